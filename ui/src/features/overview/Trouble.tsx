import { Alert, Anchor, Group, Stack, Text } from "@mantine/core";
import { IconAlertTriangle, IconCircleCheckFilled } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { Schemas } from "../../api/client";
import { hasPage } from "../../app/pages";
import { useStrings } from "../../i18n";
import { stateOf } from "../providers/health";
import { healthQuery } from "../providers/providerQueries";
import { strings as providerStrings } from "../providers/strings";
import { strings } from "./strings";

type Item = { key: string; to?: string; title: string; text: string; bad: boolean };

// Trouble is what a person on call wants to know first: who is kept out, and
// which routes have nobody, or nobody else, left.
export function Trouble() {
  const t = useStrings(strings);
  const p = useStrings(providerStrings);
  const { data } = useQuery(healthQuery);
  if (!data) return null;
  const providers: Item[] = data.providers
    .map((h) => ({ h, s: stateOf(h, h.enabled, h.drained, p) }))
    .filter(({ s }) => s.tone === "bad" || s.tone === "warning")
    .map(({ h, s }) => ({ key: `p/${h.name}`, to: `/providers/${encodeURIComponent(h.name)}`, title: `${h.name}: ${s.text}`, text: s.why ?? "", bad: s.tone === "bad" }));
  const items = [...data.routes.filter((r) => r.tag === "stored").flatMap((r) => routeItem(r, t)), ...providers];
  if (items.length === 0) {
    return data.providers.length > 0 ? (
      <Group gap={8}>
        <IconCircleCheckFilled size={16} color="var(--il-served)" aria-hidden />
        <Text size="sm" c="dimmed">
          {t.fine(data.providers.length)}
        </Text>
      </Group>
    ) : null;
  }
  return (
    <Alert color={items.some((i) => i.bad) ? "red" : "yellow"} title={t.trouble} icon={<IconAlertTriangle size={18} aria-hidden />}>
      <Stack gap={5}>
        {items.map((i) => (
          <Text size="sm" key={i.key}>
            {i.to ? (
              <Anchor component={Link} to={i.to} size="sm" fw={560} c="var(--mantine-color-text)" underline="always">
                {i.title}
              </Anchor>
            ) : (
              <Text span size="sm" fw={560}>
                {i.title}
              </Text>
            )}
            {i.text ? `. ${i.text}` : ""}
          </Text>
        ))}
      </Stack>
    </Alert>
  );
}

function routeItem(r: Schemas["RouteHealth"], t: (typeof strings)["en"]): Item[] {
  const to = hasPage("routes") ? `/routes/${encodeURIComponent(r.name)}` : undefined;
  const healthy = r.members.filter((m) => m.healthy);
  if (r.members.length === 0) return [];
  if (healthy.length === 0) return [{ key: `r/${r.name}`, to, title: t.routeDown(r.name), text: t.routeDownText, bad: true }];
  if (healthy.length === 1 && r.members.length > 1) return [{ key: `r/${r.name}`, to, title: t.routeSingle(r.name, healthy[0]!.provider), text: t.routeSingleText, bad: false }];
  return [];
}
