import { Button } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { api, data, type Schemas } from "../../api/client";
import { keys } from "../../api/query";
import { PageHeader } from "../../components/PageHeader";
import { FormProblem, SaveReview, useSaveReview } from "../../components/SaveReview";
import { UnsavedGuard } from "../../components/UnsavedGuard";
import { common } from "../../i18n/common";
import { useStrings } from "../../i18n";
import { KeyFields } from "./KeyFields";
import { inputOf, valuesOf } from "./keyModel";
import { SecretOnce } from "./SecretOnce";
import { strings } from "./strings";

export default function KeyCreate() {
  const t = useStrings(strings);
  const c = useStrings(common);
  const client = useQueryClient();
  const [made, setMade] = useState<Schemas["NewKey"]>();
  const form = useForm({ initialValues: valuesOf() });
  const write = (dryRun: boolean) => data(api.POST("/keys", { params: { query: dryRun ? { dryRun } : {} }, body: inputOf(form.values) }));
  const review = useSaveReview({
    form,
    labels: t.fields,
    has: (path) => form.getInputNode(path) !== null || path.startsWith("providerCredential"),
    dryRun: () => write(true),
    save: async () => {
      setMade((await write(false)) as Schemas["NewKey"]);
      form.resetDirty();
      await client.invalidateQueries({ queryKey: keys.config });
    },
  });
  if (made) return <SecretOnce made={made} />;
  return (
    <>
      <PageHeader title={t.createTitle} intro={t.createIntro} back={{ to: "/keys", label: t.title }} />
      <form
        onSubmit={(e) => {
          e.preventDefault();
          void review.start();
        }}
      >
        <FormProblem problem={review.problem} />
        <KeyFields form={form} />
        <div className="il-formbar">
          <Button component={Link} to="/keys" variant="default">
            {c.cancel}
          </Button>
          <Button type="submit" loading={review.busy}>
            {c.reviewReview}
          </Button>
        </div>
      </form>
      <SaveReview review={review} action={t.create} />
      <UnsavedGuard dirty={form.isDirty()} />
    </>
  );
}
