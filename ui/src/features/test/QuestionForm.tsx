import { Autocomplete, Button, Checkbox, Collapse, Group, MultiSelect, Select, Stack, Textarea, TextInput, UnstyledButton } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconChevronDown, IconChevronRight } from "@tabler/icons-react";
import { useState, type FormEvent } from "react";
import { useModelNames, useNames } from "../../api/names";
import { useStrings } from "../../i18n";
import { useWord } from "../../i18n/words";
import { headersOf, paramsOf, type Question } from "./question";
import { strings } from "./strings";

const endpoints = ["chat_completions", "messages", "responses", "embeddings", "count_tokens"];
const categories = ["rate_limit", "quota_exhausted", "server_error", "overloaded", "timeout", "connection", "auth", "model_unavailable", "request_error", "content_filter"];

type Errors = Partial<Record<"model" | "tokens" | "headers" | "params", string>>;
type Props = { question: Question; busy: boolean; serverErrors: Record<string, string>; onAsk: (q: Question) => void };

export function QuestionForm({ question, busy, serverErrors, onAsk }: Props) {
  const t = useStrings(strings);
  const word = useWord();
  const [q, setQ] = useState(question);
  const [errors, setErrors] = useState<Errors>({});
  const providers = useNames("providers");
  const keyNames = useNames("keys");
  const models = useModelNames();
  const [more, { toggle }] = useDisclosure(Boolean(question.session || question.tokens || question.headers || question.params || question.endpoint));
  const set = (change: Partial<Question>) => setQ((before) => ({ ...before, ...change }));
  const submit = (e: FormEvent) => {
    e.preventDefault();
    const wrong: Errors = {};
    if (!q.model.trim()) wrong.model = t.noModel;
    if (q.tokens && !/^\d+$/.test(q.tokens)) wrong.tokens = t.wrongTokens;
    const line = headersOf(q.headers).wrong;
    if (line) wrong.headers = t.wrongHeader(line);
    if (paramsOf(q.params).wrong) wrong.params = t.wrongParams;
    setErrors(wrong);
    if (Object.keys(wrong).length === 0) onAsk({ ...q, model: q.model.trim() });
    else (document.querySelector('#question [aria-invalid="true"]') as HTMLElement | null)?.focus();
  };
  const Chevron = more ? IconChevronDown : IconChevronRight;
  return (
    <form id="question" onSubmit={submit} noValidate>
      <Stack gap="sm">
        <Autocomplete label={t.model} placeholder={t.modelHint} data={models} limit={12} value={q.model} onChange={(model) => set({ model })} error={errors.model ?? serverErrors.model} data-autofocus spellCheck={false} autoCapitalize="off" />
        <Select label={t.key} placeholder={t.keyAny} data={keyNames} value={q.key || null} onChange={(key) => set({ key: key ?? "" })} searchable clearable error={serverErrors.key} />
        <Checkbox label={t.stream} checked={q.stream} onChange={(e) => set({ stream: e.currentTarget.checked })} />
        <Checkbox label={t.own} checked={q.callerCredential} onChange={(e) => set({ callerCredential: e.currentTarget.checked })} />
        <Checkbox label={<code>{t.once}</code>} checked={q.noFallback} onChange={(e) => set({ noFallback: e.currentTarget.checked })} />
        <fieldset className="il-fieldset">
          <legend>{t.whatIf}</legend>
          <Stack gap="sm">
            <MultiSelect label={t.down} data={providers} value={q.down} onChange={(down) => set({ down })} searchable clearable />
            <MultiSelect label={t.parked} data={providers} value={q.parked} onChange={(parked) => set({ parked })} searchable clearable />
            <MultiSelect label={t.failures} description={t.failuresHint} data={categories.map((value) => ({ value, label: word("category", value) }))} value={q.failures} onChange={(failures) => set({ failures })} clearable error={serverErrors.failures} />
          </Stack>
        </fieldset>
        <UnstyledButton onClick={toggle} aria-expanded={more} className="il-more"><Group gap={4}><Chevron size={14} aria-hidden />{t.more}</Group></UnstyledButton>
        <Collapse expanded={more}>
          <Stack gap="sm">
            <Select label={t.endpoint} placeholder={t.endpointAuto} data={endpoints} value={q.endpoint || null} onChange={(endpoint) => set({ endpoint: endpoint ?? "" })} clearable error={serverErrors.endpoint} />
            <TextInput label={t.session} description={t.sessionHint} value={q.session} onChange={(e) => set({ session: e.currentTarget.value })} spellCheck={false} />
            <TextInput label={t.tokens} description={t.tokensHint} inputMode="numeric" value={q.tokens} onChange={(e) => set({ tokens: e.currentTarget.value.trim() })} error={errors.tokens} />
            <Textarea label={t.headers} description={t.headersHint} autosize minRows={2} value={q.headers} onChange={(e) => set({ headers: e.currentTarget.value })} error={errors.headers} spellCheck={false} classNames={{ input: "mono" }} />
            <Textarea label={t.params} description={t.paramsHint} autosize minRows={2} value={q.params} onChange={(e) => set({ params: e.currentTarget.value })} error={errors.params} spellCheck={false} classNames={{ input: "mono" }} />
          </Stack>
        </Collapse>
        <Button type="submit" loading={busy} mt={4}>{t.ask}</Button>
      </Stack>
    </form>
  );
}
