import { useParams } from "@tanstack/react-router";
import { NotFound } from "../../app/Fallbacks";
import { useLanguage, useStrings } from "../../i18n";
import { ObjectForm } from "../../objects/ObjectForm";
import { ProviderFields } from "./ProviderFields";
import { providerForm, startOf } from "./providerModel";
import { strings } from "./strings";
import { vendors } from "./vendors";

export default function ProviderCreate() {
  const t = useStrings(strings);
  const lang = useLanguage();
  const { vendor: id } = useParams({ strict: false }) as { vendor: string };
  const vendor = vendors.find((v) => v.id === id);
  if (!vendor) return <NotFound />;
  return (
    <ObjectForm
      def={providerForm}
      start={startOf(vendor)}
      title={t.createTitle(vendor.title)}
      intro={vendor.text[lang]}
      back={{ to: "/providers/new", label: t.galleryTitle }}
      labels={t.fields}
      action={t.create}
      search={{ added: "1" }}
    >
      {(fields) => <ProviderFields {...fields} vendor={vendor} />}
    </ObjectForm>
  );
}
