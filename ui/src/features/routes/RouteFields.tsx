import { Checkbox, NumberInput, Select, Switch, TagsInput, Text, Textarea, TextInput } from "@mantine/core";
import { FormSection } from "../../components/FormSection";
import { common } from "../../i18n/common";
import { useStrings } from "../../i18n";
import { useWord } from "../../i18n/words";
import type { FieldsProps } from "../../objects/form";
import { AliasesEditor } from "./AliasesEditor";
import { MembersEditor } from "./MembersEditor";
import { strategies, type Route, type RouteValues } from "./routeModel";
import { strings } from "./strings";
import { useLiveCheck } from "./useLiveCheck";
import "./routes.css";

export function RouteFields(fields: FieldsProps<Route, RouteValues>) {
  const t = useStrings(strings);
  const c = useStrings(common);
  const word = useWord();
  const check = useLiveCheck(fields);
  const { form, before } = fields;
  const v = form.values;
  return (
    <>
      <FormSection title={t.general}>
        <TextInput label={c.name} description={before ? undefined : t.nameHint} required={!before} readOnly={before !== undefined} autoFocus={!before} spellCheck={false} {...form.getInputProps("name")} />
        <div>
          <TagsInput label={t.patterns} description={t.patternsHint} placeholder={v.modelPatterns.length === 0 ? t.patternsPlaceholder : undefined} required acceptValueOnBlur {...form.getInputProps("modelPatterns")} />
          <Text size="xs" c="dimmed" mt={4} aria-live="polite">{check === "busy" ? t.checking : check === "clear" ? t.noConflict : ""}</Text>
        </div>
        <Textarea label={t.description} autosize minRows={1} {...form.getInputProps("description")} />
        {before ? <Switch role="switch" label={t.on} {...form.getInputProps("enabled", { type: "checkbox" })} /> : null}
      </FormSection>
      <FormSection wide title={t.members} text={t.membersText}><MembersEditor form={form} /></FormSection>
      <FormSection title={t.strategy} text={t.strategyText}>
        <Select label={t.strategy} description={t.strategyHint[v.strategy.type]} data={strategies.map((value) => ({ value, label: word("strategy", value) }))} {...form.getInputProps("strategy.type")} onChange={(s) => form.setFieldValue("strategy.type", s ?? "failover")} allowDeselect={false} />
        {v.strategy.type === "lowest-latency" ? (
          <>
            <NumberInput label={t.windowMinutes} placeholder={t.byDefault} min={1} allowDecimal={false} {...form.getInputProps("strategy.windowMinutes")} />
            <NumberInput label={t.minRequests} placeholder={t.byDefault} min={0} allowDecimal={false} {...form.getInputProps("strategy.minRequests")} />
            <NumberInput label={t.explorationShare} placeholder={t.byDefault} min={0} max={1} step={0.01} {...form.getInputProps("strategy.explorationShare")} />
          </>
        ) : null}
      </FormSection>
      <FormSection title={t.aliases} text={t.aliasesText}><AliasesEditor form={form} /></FormSection>
      <FormSection title={t.more}>
        <Checkbox label={t.orgFallback} {...form.getInputProps("orgKeyFallbackForCallerCredentials", { type: "checkbox" })} />
        <Checkbox label={t.crossProvider} description={t.crossHint} {...form.getInputProps("allowCrossProvider", { type: "checkbox" })} />
        <Checkbox label={t.familyOnQuota} {...form.getInputProps("switchFamilyOnQuota", { type: "checkbox" })} />
      </FormSection>
    </>
  );
}
