import { Alert, Box, Button, Group, Text, Title } from "@mantine/core";
import { IconAlertTriangle } from "@tabler/icons-react";
import { useQueryClient } from "@tanstack/react-query";
import { api, data } from "../../api/client";
import { keys } from "../../api/query";
import { toast, toastProblem } from "../../components/toast";
import { formatMs, formatNumber, formatPercent } from "../../i18n/format";
import { useStrings } from "../../i18n";
import type { ProviderHealth, State } from "./health";
import { strings } from "./strings";

export function HealthPanel({ name, health, state, canWrite }: { name: string; health?: ProviderHealth; state: State; canWrite: boolean }) {
  const t = useStrings(strings);
  const client = useQueryClient();
  const unpark = async () => {
    const { changed } = await data(api.POST("/providers/{name}/unpark", { params: { path: { name } } }));
    toast(changed ? t.unparked(name) : t.unparkNothing);
    await client.invalidateQueries({ queryKey: keys.health });
  };
  const pair = (a: number, b: number) => (a || b ? `${formatMs(a)} / ${formatMs(b)}` : "–");
  return (
    <Box component="section" aria-label={t.overview}>
      <Group gap="xs" mb="sm" align="baseline">
        <Title order={2}>{t.overview}</Title>
        <Text size="xs" c="dimmed">
          {t.last15}
        </Text>
      </Group>
      {state.canRetry ? (
        <Alert color={state.tone === "bad" ? "red" : "yellow"} mb="sm" icon={<IconAlertTriangle size={18} aria-hidden />} title={state.text}>
          <Group justify="space-between">
            <Text size="sm">{state.why}</Text>
            {canWrite ? (
              <Button variant="default" onClick={() => void unpark().catch(toastProblem)}>
                {t.unpark}
              </Button>
            ) : null}
          </Group>
        </Alert>
      ) : null}
      {health ? (
        <dl className="il-facts">
          <Fact term={t.requests} value={formatNumber(health.requests)} />
          <Fact term={t.errors} value={health.requests ? formatPercent(health.errors / health.requests) : "–"} small={health.errors ? formatNumber(health.errors) : undefined} />
          <Fact term={t.first} value={pair(health.p50Ms, health.p95Ms)} />
          <Fact term={t.whole} value={pair(health.wholeP50Ms, health.wholeP95Ms)} />
          <Fact term={t.inFlight} value={formatNumber(health.inFlight)} />
        </dl>
      ) : null}
    </Box>
  );
}

function Fact({ term, value, small }: { term: string; value: string; small?: string }) {
  return (
    <div>
      <dt>{term}</dt>
      <dd>
        {value} {small ? <small>{small}</small> : null}
      </dd>
    </div>
  );
}
