import { Button } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import { useRef } from "react";
import { api, data } from "../../api/client";
import { keys } from "../../api/query";
import { NotFound } from "../../app/Fallbacks";
import { PageHeader } from "../../components/PageHeader";
import { FormProblem, SaveReview, useSaveReview } from "../../components/SaveReview";
import { toast } from "../../components/toast";
import { UnsavedGuard } from "../../components/UnsavedGuard";
import { common } from "../../i18n/common";
import { useLanguage, useStrings } from "../../i18n";
import { ProviderFields } from "./ProviderFields";
import { inputOf, startOf } from "./providerModel";
import { strings } from "./strings";
import { vendors, type Vendor } from "./vendors";

export default function ProviderCreate() {
  const { vendor: id } = useParams({ strict: false }) as { vendor: string };
  const vendor = vendors.find((v) => v.id === id);
  return vendor ? <CreateForm vendor={vendor} /> : <NotFound />;
}

function CreateForm({ vendor }: { vendor: Vendor }) {
  const t = useStrings(strings);
  const c = useStrings(common);
  const lang = useLanguage();
  const client = useQueryClient();
  const navigate = useNavigate();
  const saved = useRef(false);
  const form = useForm({ initialValues: startOf(vendor) });
  const write = (dryRun: boolean) => data(api.POST("/providers", { params: { query: dryRun ? { dryRun } : {} }, body: inputOf(form.values) }));
  const review = useSaveReview({
    form,
    labels: t.fields,
    has: (path) => form.getInputNode(path) !== null || /^(apiKey|modelAliases|headers|contextWindows|wireFormat)$/.test(path),
    dryRun: () => write(true),
    save: async () => {
      await write(false);
      saved.current = true;
      await client.invalidateQueries({ queryKey: keys.config });
      toast(c.saved(form.values.name));
      await navigate({ to: `/providers/${encodeURIComponent(form.values.name.trim())}`, search: { added: "1" } as never });
    },
  });
  return (
    <>
      <PageHeader title={t.createTitle(vendor.title)} intro={vendor.text[lang]} back={{ to: "/providers/new", label: t.galleryTitle }} />
      <form
        onSubmit={(e) => {
          e.preventDefault();
          void review.start();
        }}
      >
        <FormProblem problem={review.problem} />
        <ProviderFields form={form} vendor={vendor} />
        <div className="il-formbar">
          <Button component={Link} to="/providers" variant="default">
            {c.cancel}
          </Button>
          <Button type="submit" loading={review.busy}>
            {c.reviewReview}
          </Button>
        </div>
      </form>
      <SaveReview review={review} action={t.add} />
      <UnsavedGuard dirty={form.isDirty()} saved={saved} />
    </>
  );
}
