import { Checkbox, MultiSelect, Select, Switch, TextInput } from "@mantine/core";
import type { UseFormReturnType } from "@mantine/form";
import { useNames, useResidencies } from "../../api/names";
import { FormSection } from "../../components/FormSection";
import { SecretField } from "../../components/SecretField";
import { useStrings } from "../../i18n";
import { useWord } from "../../i18n/words";
import type { FieldsProps } from "../../objects/form";
import { ownerKinds, type Key, type KeyValues, type OwnerKind } from "./keyModel";
import { strings } from "./strings";

export function KeyFields({ form, before }: FieldsProps<Key, KeyValues>) {
  const t = useStrings(strings);
  const word = useWord();
  const v = form.values;
  return (
    <>
      <FormSection title={t.general}>
        <TextInput label={t.fields.name} description={before ? undefined : t.nameHint} required={!before} readOnly={before !== undefined} autoFocus={!before} {...form.getInputProps("name")} />
        <Select
          label={t.type}
          description={t.typeHint[v.type]}
          data={(["service", "pat", "virtual"] as const).map((value) => ({ value, label: word("keyType", value) }))}
          {...form.getInputProps("type")}
        />
        <Owner form={form} />
        <Select label={t.team} description={t.teamHint} data={useNames("teams")} searchable clearable {...form.getInputProps("team")} value={v.team || null} onChange={(x) => form.setFieldValue("team", x ?? "")} />
        <TextInput type="datetime-local" label={t.expiresAt} description={t.expiresHint} {...form.getInputProps("expiresAt")} />
        {before ? <Switch role="switch" label={t.enabled} {...form.getInputProps("enabled", { type: "checkbox" })} /> : null}
      </FormSection>
      <FormSection title={t.limits} text={t.providersHint}>
        <MultiSelect label={t.providers} data={[...new Set([...useNames("providers"), ...v.allowedProviders])]} placeholder={v.allowedProviders.length === 0 ? t.anyProvider : undefined} searchable clearable {...form.getInputProps("allowedProviders")} />
        <MultiSelect label={t.residencies} data={[...new Set([...useResidencies(), ...v.allowedResidencies])]} placeholder={v.allowedResidencies.length === 0 ? t.anyResidency : undefined} searchable clearable {...form.getInputProps("allowedResidencies")} />
        <Checkbox.Group label={t.handling} value={handling(v)} onChange={(on) => form.setFieldValue("dataHandling", { ...v.dataHandling, zeroDataRetention: on.includes("zdr"), noPromptTraining: on.includes("training") })}>
          <Checkbox mt={6} value="zdr" label={t.zdr} />
          <Checkbox mt={6} value="training" label={t.training} />
        </Checkbox.Group>
        <TextInput label={t.jurisdiction} {...form.getInputProps("dataHandling.jurisdiction")} />
      </FormSection>
      {v.type === "virtual" ? (
        <FormSection title={t.credential} text={t.credentialHint}>
          <Select label={t.credentialProvider} data={useNamesOf(v.providerCredential.provider)} placeholder={t.noCredential} searchable clearable {...form.getInputProps("providerCredential.provider")} value={v.providerCredential.provider || null} onChange={(x) => form.setFieldValue("providerCredential.provider", x ?? "")} />
          {v.providerCredential.provider ? (
            <SecretField
              label={t.credentialKey}
              stored={before?.providerCredential?.provider === v.providerCredential.provider}
              required
              value={v.providerCredential.apiKey}
              onChange={(x) => form.setFieldValue("providerCredential.apiKey", x)}
              error={form.errors["providerCredential.apiKey"] as string | undefined}
            />
          ) : null}
        </FormSection>
      ) : null}
    </>
  );
}

function useNamesOf(also: string): string[] {
  const names = useNames("providers");
  return also && !names.includes(also) ? [...names, also] : names;
}

function handling({ dataHandling: h }: KeyValues): string[] {
  return [...(h.zeroDataRetention ? ["zdr"] : []), ...(h.noPromptTraining ? ["training"] : [])];
}

function Owner({ form }: { form: UseFormReturnType<KeyValues> }) {
  const t = useStrings(strings);
  const kind = form.values.ownerKind;
  const users = useNames("users");
  const teams = useNames("teams");
  const departments = useNames("departments");
  const names = { user: users, team: teams, department: departments };
  const label = { none: t.ownerNone, user: t.ownerUser, team: t.ownerTeam, department: t.ownerDepartment };
  return (
    <>
      <Select
        label={t.ownerKind}
        data={(["none", ...ownerKinds] as const).map((value) => ({ value, label: label[value] }))}
        value={kind}
        onChange={(k) => form.setFieldValue("ownerKind", (k ?? "none") as OwnerKind)}
      />
      {kind === "none" ? null : (
        <Select label={label[kind]} data={names[kind]} searchable required {...form.getInputProps(`owner.${kind}`)} value={form.values.owner[kind] || null} onChange={(x) => form.setFieldValue(`owner.${kind}`, x ?? "")} />
      )}
    </>
  );
}
