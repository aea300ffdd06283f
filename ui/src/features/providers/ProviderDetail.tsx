import { Alert, Anchor, Box, Button, Stack, Text, Title } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconPlayerPause, IconPlayerPlay } from "@tabler/icons-react";
import { Link, useSearch } from "@tanstack/react-router";
import { useCanWrite } from "../../api/auth";
import { hrefOf } from "../../app/pages";
import { Definitions } from "../../components/Definitions";
import { common } from "../../i18n/common";
import { formatTime } from "../../i18n/format";
import { useStrings } from "../../i18n";
import { useWord, wordOf } from "../../i18n/words";
import type { Loaded } from "../../objects/collection";
import { ObjectDetail, ObjectPage } from "../../objects/ObjectDetail";
import { RequestsLink } from "../../objects/RequestsLink";
import { DrainDialog, useUndrain } from "./Operations";
import { losses, stateOf } from "./health";
import { HealthPanel } from "./HealthPanel";
import { providersOf, type Provider } from "./providerModel";
import { useHealth } from "./providerQueries";
import { strings } from "./strings";
import { TestCall } from "./TestCall";
import { vendorOf } from "./vendors";

export default function ProviderDetail() {
  return <ObjectPage of={providersOf}>{(loaded) => <Detail loaded={loaded} />}</ObjectPage>;
}

function Detail({ loaded }: { loaded: Loaded<Provider> }) {
  const t = useStrings(strings);
  const p = loaded.value;
  const isAdmin = useCanWrite();
  const { added } = useSearch({ strict: false }) as { added?: string };
  const { provider: health, routes } = useHealth(p.name);
  const [draining, drain] = useDisclosure();
  const undrain = useUndrain(p.name);
  const state = stateOf(health, p.enabled, p.drained, t);
  const users = (p.usedBy ?? []).map((u) => t.removeUsed(`${wordOf("kind", u.kind)} ${u.name}`));
  const Icon = p.drained ? IconPlayerPlay : IconPlayerPause;
  return (
    <ObjectDetail
      of={providersOf}
      loaded={loaded}
      state={state}
      links={<RequestsLink by="provider" name={p.name} />}
      operations={
        <Button variant="default" leftSection={<Icon size={15} aria-hidden />} onClick={p.drained ? undrain : drain.open}>
          {p.drained ? t.undrain : t.drain}
        </Button>
      }
      remove={{
        title: t.removeTitle(p.name),
        consequences: users.length > 0 ? users : [...losses(p.name, routes, t), t.removeModels, ...(p.hasApiKey ? [t.removeCredential] : [])],
      }}
    >
      {added ? (
        <Alert color="pine" mb="md" p="sm">
          {t.justAdded}
        </Alert>
      ) : null}
      <Stack gap={32}>
        {isAdmin && added ? <TestCall name={p.name} models={p.staticModels ?? []} /> : null}
        <HealthPanel name={p.name} health={health} state={state} canWrite={isAdmin} />
        {isAdmin && !added ? <TestCall name={p.name} models={p.staticModels ?? []} /> : null}
        <Settings provider={p} />
      </Stack>
      <DrainDialog name={p.name} routes={routes} opened={draining} onClose={drain.close} />
    </ObjectDetail>
  );
}

function Settings({ provider: p }: { provider: Provider }) {
  const t = useStrings(strings);
  const word = useWord();
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
          [t.type, p.vendor ? `${vendorOf(p)?.title ?? p.vendor} (${word("providerType", p.type)})` : word("providerType", p.type)],
          [t.format, word("wireFormat", p.wireFormat)],
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

function Used({ kind, name }: { kind: string; name: string }) {
  const to = hrefOf(kind, name);
  return to ? <Anchor component={Link} to={to} size="sm">{name}</Anchor> : <>{`${wordOf("kind", kind)} ${name}`}</>;
}
