import { Button } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import { useRef } from "react";
import { api, ifMatch } from "../../api/client";
import { keys } from "../../api/query";
import { Editing } from "../../components/Editing";
import { PageHeader } from "../../components/PageHeader";
import { FormProblem, SaveReview, useSaveReview } from "../../components/SaveReview";
import { toast } from "../../components/toast";
import { UnsavedGuard } from "../../components/UnsavedGuard";
import { common } from "../../i18n/common";
import { useStrings } from "../../i18n";
import { KeyFields } from "./KeyFields";
import { inputOf, valuesOf, type Key } from "./keyModel";
import { keyQuery } from "./keyQueries";
import { strings } from "./strings";

export default function KeyEdit() {
  const { name } = useParams({ strict: false }) as { name: string };
  return <Editing query={keyQuery(name)}>{({ value, etag }, reload) => <EditForm before={value} etag={etag} reload={reload} />}</Editing>;
}

function EditForm({ before, etag, reload }: { before: Key; etag: string; reload: () => void }) {
  const t = useStrings(strings);
  const c = useStrings(common);
  const client = useQueryClient();
  const navigate = useNavigate();
  const saved = useRef(false);
  const form = useForm({ initialValues: valuesOf(before) });
  const back = `/keys/${encodeURIComponent(before.name)}`;
  const write = (dryRun: boolean) =>
    api.PUT("/keys/{name}", {
      params: { path: { name: before.name }, query: dryRun ? { dryRun } : {}, header: ifMatch(etag) },
      body: inputOf(form.values, before),
    });
  const review = useSaveReview({
    form,
    labels: t.fields,
    has: (path) => form.getInputNode(path) !== null || path.startsWith("providerCredential"),
    dryRun: async () => (await write(true)).data,
    save: async () => {
      await write(false);
      saved.current = true;
      await client.invalidateQueries({ queryKey: keys.config });
      toast(c.saved(before.name));
      await navigate({ to: back });
    },
  });
  return (
    <>
      <PageHeader title={t.editTitle(before.name)} back={{ to: back, label: before.name }} />
      <form
        onSubmit={(e) => {
          e.preventDefault();
          void review.start();
        }}
      >
        <FormProblem problem={review.problem} reload={reload} />
        <KeyFields form={form} before={before} />
        <div className="il-formbar">
          <Button component={Link} to={back} variant="default">
            {c.cancel}
          </Button>
          <Button type="submit" loading={review.busy} disabled={!form.isDirty()}>
            {c.reviewReview}
          </Button>
        </div>
      </form>
      <SaveReview review={review} />
      <UnsavedGuard dirty={form.isDirty()} saved={saved} />
    </>
  );
}
