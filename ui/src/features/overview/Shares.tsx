import { Anchor, Box, Group, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { CSSProperties } from "react";
import type { Schemas } from "../../api/client";
import { StatusBadge } from "../../components/StatusBadge";
import { formatCompact, formatPercent, formatUsd } from "../../i18n/format";
import { useStrings } from "../../i18n";
import { stateOf } from "../providers/health";
import { healthQuery } from "../providers/providerQueries";
import { strings as providerStrings } from "../providers/strings";
import { strings } from "./strings";

// Shares lists who had most of the traffic. Providers show their state as well.
export function Shares({ kind, shares }: { kind: "models" | "providers"; shares: Schemas["StatsShare"][] }) {
  const t = useStrings(strings);
  const p = useStrings(providerStrings);
  const health = useQuery(healthQuery).data?.providers;
  const top = Math.max(1, ...shares.map((s) => s.requests));
  const state = (name: string) => {
    const h = health?.find((x) => x.name === name);
    const s = h ? stateOf(h, h.enabled, h.drained, p) : undefined;
    return s && s.tone !== "good" && s.tone !== "neutral" ? <StatusBadge tone={s.tone}>{s.text}</StatusBadge> : null;
  };
  return (
    <Box component="section" aria-label={t[kind]}>
      <Title order={2} mb="xs">
        {t[kind]}
      </Title>
      {shares.length === 0 ? (
        <Text size="sm" c="dimmed">
          {t.nothing}
        </Text>
      ) : null}
      <Box component="ul" m={0} p={0} style={{ listStyle: "none" }}>
        {shares.slice(0, 8).map((s) => (
          <li key={s.name} className="il-share" style={{ "--share": s.requests / top } as CSSProperties}>
            <Group gap="2px 8px" miw={0}>
              {kind === "providers" ? (
                <Anchor component={Link} to={`/providers/${encodeURIComponent(s.name)}`} className="il-rowlink" size="sm" truncate>
                  {s.name}
                </Anchor>
              ) : (
                <Text size="sm" fw={550} truncate>
                  {s.name}
                </Text>
              )}
              {kind === "providers" ? state(s.name) : null}
            </Group>
            <Text size="xs" className="num" ta="right" c={s.errors > 0 ? "var(--mantine-color-error)" : "dimmed"}>
              {s.errors > 0 ? `${formatPercent(s.errors / s.requests)} ${t.errors.toLowerCase()}` : s.costUsd > 0 ? formatUsd(s.costUsd) : ""}
            </Text>
            <Text size="sm" className="num" ta="right" aria-label={`${formatCompact(s.requests)} ${t.requests.toLowerCase()}`} role="text">
              {formatCompact(s.requests)}
            </Text>
          </li>
        ))}
      </Box>
    </Box>
  );
}
