import { Checkbox, Select, Switch, TagsInput, TextInput } from "@mantine/core";
import type { UseFormReturnType } from "@mantine/form";
import { useResidencies } from "../../api/names";
import { FormSection } from "../../components/FormSection";
import { MapField } from "../../components/MapField";
import { SecretField } from "../../components/SecretField";
import { useStrings } from "../../i18n";
import { useWord } from "../../i18n/words";
import type { FieldsProps } from "../../objects/form";
import { MoreFields } from "./MoreFields";
import type { Provider, ProviderValues } from "./providerModel";
import { strings } from "./strings";
import type { Vendor } from "./vendors";

type Props = FieldsProps<Provider, ProviderValues> & { vendor?: Vendor };

// ProviderFields asks for what the vendor needs; the rest is behind "More
// settings".
export function ProviderFields({ form, vendor, before }: Props) {
  const t = useStrings(strings);
  const v = form.values;
  const residencies = [...new Set([...useResidencies(), v.residency])];
  const keyHint = vendor?.keyless ? t.keyless : `${t.apiKeyHint(vendor?.env ?? "API_KEY")} ${t.passthroughHint}`;
  return (
    <>
      <FormSection title={t.connection}>
        <TextInput label={t.name} description={before ? undefined : t.nameHint} required={!before} readOnly={before !== undefined} {...form.getInputProps("name")} />
        {vendor?.formats ? <Format form={form} vendor={vendor} /> : null}
        <TextInput
          label={t.baseUrl}
          description={vendor?.needsUrl ? t.baseUrlNeeded : vendor?.baseUrl ? t.baseUrlDefault(vendor.baseUrl) : t.baseUrlVendor}
          required={vendor?.needsUrl}
          placeholder={vendor?.baseUrl ?? "https://"}
          type="url"
          inputMode="url"
          {...form.getInputProps("baseUrl")}
        />
        <SecretField
          label={t.apiKey}
          description={keyHint}
          placeholder={vendor?.env ? `env:${vendor.env}` : (vendor?.keyHint ?? "")}
          stored={before?.hasApiKey ?? false}
          last4={before?.apiKeyLast4}
          value={v.apiKey}
          onChange={(x) => form.setFieldValue("apiKey", x)}
          error={form.errors.apiKey as string | undefined}
        />
        {before ? <Switch role="switch" label={t.enabled} {...form.getInputProps("enabled", { type: "checkbox" })} /> : null}
      </FormSection>
      <FormSection title={t.models}>
        <TagsInput label={t.patterns} description={`${t.patternsHint}${vendor?.needsPatterns ? "" : ` ${t.patternsDefault}`}`} placeholder={vendor?.needsPatterns ? "llama-*" : undefined} acceptValueOnBlur {...form.getInputProps("modelPatterns")} />
        <TagsInput label={t.staticModels} description={t.staticModelsHint} acceptValueOnBlur {...form.getInputProps("staticModels")} />
        <MapField label={t.aliases} description={t.aliasesHint} keyLabel={t.aliasFrom} valueLabel={t.aliasTo} addLabel={t.addRow} removeLabel={t.removeRow} {...plain(form, "modelAliases")} />
      </FormSection>
      <FormSection title={t.data} text={t.dataText}>
        <Select label={t.residency} description={t.residencyHint} data={residencies} {...form.getInputProps("residency")} />
        <Checkbox.Group
          label={t.promises}
          value={[...(v.dataHandling.zeroDataRetention ? ["zdr"] : []), ...(v.dataHandling.noPromptTraining ? ["training"] : [])]}
          onChange={(on) => form.setFieldValue("dataHandling", { ...v.dataHandling, zeroDataRetention: on.includes("zdr"), noPromptTraining: on.includes("training") })}
        >
          <Checkbox mt={6} value="zdr" label={t.zdr} />
          <Checkbox mt={6} value="training" label={t.training} />
        </Checkbox.Group>
        <TextInput label={t.jurisdiction} {...form.getInputProps("dataHandling.jurisdiction")} />
      </FormSection>
      <MoreFields form={form} />
    </>
  );
}

// plain are the value and error of a field whose component is not an input.
export function plain<K extends "modelAliases" | "contextWindows" | "headers">(form: UseFormReturnType<ProviderValues>, name: K) {
  return {
    value: form.values[name],
    onChange: (value: ProviderValues[K]) => form.setFieldValue(name, value as never),
    error: form.errors[name] as string | undefined,
  };
}

function Format({ form, vendor }: { form: UseFormReturnType<ProviderValues>; vendor: Vendor }) {
  const t = useStrings(strings);
  const word = useWord();
  const formats = vendor.formats ?? [];
  const now = form.values.wireFormat || (form.values.type === "anthropic" ? "anthropic-messages" : "openai-chat");
  return (
    <Select
      label={t.format}
      description={t.formatHint}
      data={formats.map((f) => ({ value: f.value, label: word("wireFormat", f.value) }))}
      value={now}
      error={form.errors.wireFormat}
      onChange={(value) => {
        const chosen = formats.find((f) => f.value === value);
        if (!chosen) return;
        form.setFieldValue("type", chosen.type);
        // The first one is the type's own: nothing to say.
        form.setFieldValue("wireFormat", chosen.value === "openai-responses" ? chosen.value : "");
      }}
    />
  );
}
