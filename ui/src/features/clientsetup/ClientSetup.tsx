import { Alert, Anchor, Autocomplete, Box, PasswordInput, Stack, Text, TextInput, Title } from "@mantine/core";
import { IconInfoCircle } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { useCanWrite } from "../../api/auth";
import { lastSecret } from "../../app/secretMemory";
import { CodeBlock } from "../../components/CodeBlock";
import { useListSearch } from "../../components/listSearch";
import { PageHeader } from "../../components/PageHeader";
import { useStrings } from "../../i18n";
import { ClientList } from "./ClientList";
import { clients, suits, type Values } from "./clients";
import { strings } from "./strings";
import { TestRequest } from "./TestRequest";
import { useModels } from "./useModels";

// The fields beside each other begin at one height, whatever is said of them.
const inputWrapperOrder: ("label" | "input" | "description" | "error")[] = ["label", "input", "description", "error"];

export default function ClientSetup() {
  const t = useStrings(strings);
  const canWrite = useCanWrite();
  const [search, setSearch] = useListSearch();
  const client = clients.find((c) => c.id === search.client) ?? clients[0]!;
  const [remembered] = useState(lastSecret);
  const [base, setBase] = useState(window.location.origin);
  const [key, setKey] = useState(remembered?.secret ?? "");
  const [chosen, setChosen] = useState("");
  const { models, ofKey } = useModels(key);
  const model = chosen || models.find((m) => suits(client.api, m)) || models[0] || "";
  const values: Values = { base: base.replace(/\/+$/, ""), key: key || "ilk_...", model: model || "MODEL" };
  const masked: Values = { ...values, key: key ? `${key.slice(0, 8)}…` : "ilk_..." };
  const wrong = key !== "" && !/^(ilk|sess)_/.test(key);
  return (
    <>
      <PageHeader title={t.title} intro={t.intro} />
      <Box component="section" aria-label={t.values} className="il-values">
        <TextInput inputWrapperOrder={inputWrapperOrder} label={t.address} description={t.addressHint} type="url" value={base} onChange={(e) => setBase(e.currentTarget.value)} />
        <Box>
          <PasswordInput inputWrapperOrder={inputWrapperOrder} label={t.key} description={remembered && key === remembered.secret ? t.keyRemembered(remembered.name) : t.keyHint} placeholder="ilk_…" value={key} onChange={(e) => setKey(e.currentTarget.value.trim())} error={wrong ? t.notKey : undefined} autoComplete="off" data-1p-ignore styles={{ innerInput: { fontFamily: "var(--mantine-font-family-monospace)" } }} />
          {canWrite && key === "" ? (
            <Anchor component={Link} to="/keys/new" size="xs" mt={4} display="inline-block">
              {t.newKey} →
            </Anchor>
          ) : null}
        </Box>
        <Autocomplete inputWrapperOrder={inputWrapperOrder} label={t.model} description={ofKey ? t.modelHint : t.modelHintNoKey} data={models} value={chosen} placeholder={model} onChange={setChosen} />
      </Box>
      <Box className="il-setup" mt="xl">
        <ClientList chosen={client.id} onChoose={(id) => setSearch({ client: id === clients[0]!.id ? undefined : id })} />
        <Stack gap="lg" miw={0}>
          <Title order={2}>{client.name}</Title>
          {client.note ? (
            <Alert color="gray" icon={<IconInfoCircle size={17} aria-hidden />}>
              {t.notes[client.note]}
            </Alert>
          ) : null}
          {client.snippets.map((s) => (
            <Box key={s.title}>
              <Text size="xs" c="dimmed" mb={5} className={/[~./]/.test(s.title) ? "mono" : undefined}>
                {s.title}
              </Text>
              <CodeBlock label={`${client.name}: ${s.title}`} code={s.code(values)} shown={s.code(masked)} />
            </Box>
          ))}
          <TestRequest api={client.api} base={values.base} secret={wrong ? "" : key} model={model} />
        </Stack>
      </Box>
    </>
  );
}
