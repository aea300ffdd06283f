import { Button, Checkbox, Group, NumberInput, Select, Switch, TagsInput, Text, Textarea, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { useRef } from "react";
import { keys } from "../../api/query";
import { FormSection } from "../../components/FormSection";
import { PageHeader } from "../../components/PageHeader";
import { FormProblem, SaveReview, useSaveReview } from "../../components/SaveReview";
import { toast } from "../../components/toast";
import { UnsavedGuard } from "../../components/UnsavedGuard";
import { common } from "../../i18n/common";
import { useStrings } from "../../i18n";
import { AliasesEditor } from "./AliasesEditor";
import { MembersEditor } from "./MembersEditor";
import { writeRoute, type Before } from "./queries";
import { strategies, valuesOf, newMember, type RouteValues } from "./routeModel";
import { strings } from "./strings";
import { useLiveCheck } from "./useLiveCheck";
import "./routes.css";

// RouteForm makes a route, or changes the one that was loaded.
export function RouteForm({ before, reload }: { before?: Before; reload?: () => void }) {
  const t = useStrings(strings);
  const c = useStrings(common);
  const client = useQueryClient();
  const navigate = useNavigate();
  const saved = useRef(false);
  const first = useRef(valuesOf(before?.value));
  if (!before && first.current.members.length === 0) first.current.members = [newMember()];
  const form = useForm<RouteValues>({ initialValues: first.current });
  const has = (path: string) => form.getInputNode(path) !== null || path === "members";
  const check = useLiveCheck(form, before, has);
  const back = before ? `/routes/${encodeURIComponent(before.value.name)}` : "/routes";
  const review = useSaveReview({
    form,
    labels: t.fields,
    has,
    dryRun: () => writeRoute(form.values, before, true),
    save: async () => {
      await writeRoute(form.values, before, false);
      saved.current = true;
      await client.invalidateQueries({ queryKey: keys.config });
      toast(c.saved(form.values.name));
      await navigate({ to: `/routes/${encodeURIComponent(form.values.name.trim())}` });
    },
  });
  const v = form.values;
  return (
    <>
      <PageHeader title={before ? t.editTitle(before.value.name) : t.createTitle} intro={before ? undefined : t.createIntro} back={{ to: back, label: before?.value.name ?? t.title }} />
      <form
        noValidate
        onSubmit={(e) => {
          e.preventDefault();
          void review.start();
        }}
      >
        <FormProblem problem={review.problem} reload={reload} />
        <FormSection title={t.general}>
          <TextInput label={c.name} description={before ? undefined : t.nameHint} required disabled={before !== undefined} autoFocus={!before} spellCheck={false} {...form.getInputProps("name")} />
          <TagsInput label={t.patterns} description={t.patternsHint} placeholder={v.modelPatterns.length === 0 ? t.patternsPlaceholder : undefined} required acceptValueOnBlur {...form.getInputProps("modelPatterns")} />
          <Text size="xs" c="dimmed" aria-live="polite">{check === "busy" ? t.checking : check === "clear" ? t.noConflict : ""}</Text>
          <Textarea label={t.description} autosize minRows={1} {...form.getInputProps("description")} />
          {before ? <Switch role="switch" label={t.on} {...form.getInputProps("enabled", { type: "checkbox" })} /> : null}
        </FormSection>
        <FormSection title={t.members} text={t.membersText}><MembersEditor form={form} /></FormSection>
        <FormSection title={t.strategy} text={t.strategyText}>
          <Select label={t.strategy} description={t.strategyHint[v.strategy.type]} data={strategies.map((value) => ({ value, label: t.strategies[value]! }))} {...form.getInputProps("strategy.type")} onChange={(s) => form.setFieldValue("strategy.type", s ?? "failover")} allowDeselect={false} />
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
        <Group className="il-formbar">
          <Button component={Link} to={back} variant="default">{c.cancel}</Button>
          <Button type="submit" loading={review.busy} disabled={before !== undefined && !form.isDirty()}>{c.reviewReview}</Button>
        </Group>
      </form>
      <SaveReview review={review} action={before ? undefined : t.create} />
      <UnsavedGuard dirty={form.isDirty()} saved={saved} />
    </>
  );
}
