import { Alert, Anchor, Box, Button, Group, Stack, Text, Title } from "@mantine/core";
import { IconPencil, IconPlayerPause, IconPlayerPlay, IconTrash } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { Link, useParams, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { useCanWrite } from "../../api/auth";
import { hasPage } from "../../app/pages";
import { PagePending } from "../../app/Fallbacks";
import { Definitions } from "../../components/Definitions";
import { ErrorState } from "../../components/ErrorState";
import { ObjectNotes } from "../../components/ObjectNotes";
import { PageHeader } from "../../components/PageHeader";
import { StatusBadge } from "../../components/StatusBadge";
import { common } from "../../i18n/common";
import { formatTime } from "../../i18n/format";
import { useStrings } from "../../i18n";
import { DeleteDialog, DrainDialog, useUndrain } from "./Operations";
import { stateOf } from "./health";
import { HealthPanel } from "./HealthPanel";
import type { Provider } from "./providerModel";
import { providerQuery, useHealth } from "./providerQueries";
import { strings } from "./strings";
import { TestCall } from "./TestCall";
import { formatNames, vendorOf } from "./vendors";

export default function ProviderDetail() {
  const { name } = useParams({ strict: false }) as { name: string };
  const query = useQuery(providerQuery(name));
  if (query.isError) return <ErrorState error={query.error} retry={() => void query.refetch()} />;
  if (!query.isSuccess) return <PagePending />;
  return <Detail provider={query.data.value} etag={query.data.etag} />;
}

function Detail({ provider: p, etag }: { provider: Provider; etag: string }) {
  const t = useStrings(strings);
  const c = useStrings(common);
  const isAdmin = useCanWrite();
  const canWrite = isAdmin && p.managedBy === "api";
  const { added } = useSearch({ strict: false }) as { added?: string };
  const { provider: health, routes } = useHealth(p.name);
  const [dialog, setDialog] = useState<"drain" | "delete">();
  const undrain = useUndrain(p.name);
  const state = stateOf(health, p.enabled, p.drained, t);
  const close = () => setDialog(undefined);
  return (
    <>
      <PageHeader
        documentTitle={p.name}
        title={
          <Group gap="sm" component="span">
            {p.name}
            <StatusBadge tone={state.tone}>{state.text}</StatusBadge>
          </Group>
        }
        back={{ to: "/providers", label: t.title }}
        actions={
          canWrite ? (
            <>
              <Button component={Link} to={`/providers/${encodeURIComponent(p.name)}/edit`} variant="default" leftSection={<IconPencil size={15} aria-hidden />}>
                {c.edit}
              </Button>
              {p.drained ? (
                <Button variant="default" leftSection={<IconPlayerPlay size={15} aria-hidden />} onClick={undrain}>
                  {t.undrain}
                </Button>
              ) : (
                <Button variant="default" leftSection={<IconPlayerPause size={15} aria-hidden />} onClick={() => setDialog("drain")}>
                  {t.drain}
                </Button>
              )}
              <Button variant="light" color="red" leftSection={<IconTrash size={15} aria-hidden />} onClick={() => setDialog("delete")}>
                {t.remove}
              </Button>
            </>
          ) : null
        }
      />
      {added ? (
        <Alert color="pine" mb="md" p="sm">
          {t.justAdded}
        </Alert>
      ) : null}
      <ObjectNotes object={p} />
      <Stack gap={32}>
        {isAdmin && added ? <TestCall name={p.name} models={p.staticModels ?? []} /> : null}
        <HealthPanel name={p.name} health={health} state={state} canWrite={isAdmin} />
        {isAdmin && !added ? <TestCall name={p.name} models={p.staticModels ?? []} /> : null}
        <Settings provider={p} />
      </Stack>
      <DrainDialog name={p.name} routes={routes} opened={dialog === "drain"} onClose={close} />
      <DeleteDialog provider={p} etag={etag} routes={routes} opened={dialog === "delete"} onClose={close} />
    </>
  );
}

function Settings({ provider: p }: { provider: Provider }) {
  const t = useStrings(strings);
  const c = useStrings(common);
  const h = p.dataHandling;
  const promises = [h?.zeroDataRetention && t.zdr, h?.noPromptTraining && t.training, h?.jurisdiction && `${t.jurisdiction}: ${h.jurisdiction}`].filter(Boolean).join(", ");
  const credential = p.hasApiKey ? (p.apiKeyLast4 ? t.keyStored(p.apiKeyLast4) : t.orgKey) : p.credentialMode === "passthrough" ? t.passthrough : t.orgKeyless;
  const mono = (text?: string) => (text ? <Text span size="sm" className="mono" key={text}>{text}</Text> : undefined);
  const map = (m?: Record<string, string | number>) => (m ? Object.entries(m).map(([k, v]) => <div key={k} className="mono">{k} → {v}</div>) : undefined);
  return (
    <Box component="section" aria-label={t.settings}>
      <Title order={2} mb="sm">
        {t.settings}
      </Title>
      <Definitions
        items={[
          [t.usedBy, p.usedBy?.length ? p.usedBy.map((u, i) => <span key={u.kind + u.name}>{i ? ", " : ""}<Used kind={u.kind} name={u.name} /></span>) : t.usedByNobody],
          [t.type, p.vendor ? `${vendorOf(p)?.title ?? p.vendor} (${p.type})` : p.type],
          [t.format, p.wireFormat ? formatNames[p.wireFormat] : undefined],
          [t.baseUrl, mono(p.baseUrl)],
          [t.mode, credential],
          [t.region, p.residency ?? "global"],
          [t.promises, promises],
          [t.patterns, mono(p.modelPatterns?.join(", ")) ?? (p.usedBy?.length ? undefined : t.patternsDefault.replace(/^[^:]+: /, ""))],
          [t.staticModels, mono(p.staticModels?.join(", "))],
          [t.aliases, map(p.modelAliases)],
          [t.windows, map(p.contextWindows)],
          [t.headers, map(p.headers)],
          [t.proxyUrl, mono(p.proxyUrl)],
          [t.caFile, mono(p.caFile)],
          [c.updated, p.updatedAt ? formatTime(p.updatedAt) : undefined],
        ]}
      />
    </Box>
  );
}

const pathOf: Record<string, string> = { ...(hasPage("routes") ? { Route: "/routes/" } : {}), Key: "/keys/" };

function Used({ kind, name }: { kind: string; name: string }) {
  const base = pathOf[kind];
  return base ? <Anchor component={Link} to={`${base}${encodeURIComponent(name)}`} size="sm">{name}</Anchor> : <>{`${kind} ${name}`}</>;
}
