import { Box, Button, Group, Text, Title } from "@mantine/core";
import { IconCircleCheckFilled, IconCircleDashed } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { useCanWrite } from "../../api/auth";
import { api, data } from "../../api/client";
import { keys } from "../../api/query";
import { hasPage } from "../../app/pages";
import { useStrings } from "../../i18n";
import { statsQuery } from "./queries";
import { strings } from "./strings";

const hidden = "interlock-first-run-hidden";

function wasHidden(): boolean {
  try {
    return localStorage.getItem(hidden) === "1";
  } catch {
    return false;
  }
}

const one = { params: { query: { limit: 1 } } };

// FirstRun leads a fresh install to its first answer. It goes away when all is
// done, or when somebody does not want it.
export function FirstRun() {
  const t = useStrings(strings);
  const canWrite = useCanWrite();
  const [gone, setGone] = useState(wasHidden);
  const enabled = canWrite && !gone;
  const providers = useQuery({ enabled, queryKey: keys.list("providers", { any: true }), queryFn: () => data(api.GET("/providers", one)) });
  const keyList = useQuery({ enabled, queryKey: keys.list("keys", { any: true }), queryFn: () => data(api.GET("/keys", one)) });
  const routes = useQuery({ enabled, queryKey: keys.list("routes", { any: true }), queryFn: () => data(api.GET("/routes", { params: { query: { limit: 100 } } })) });
  const stats = useQuery({ ...statsQuery("7d"), enabled });
  if (!enabled || !providers.data || !keyList.data || !routes.data || !stats.data) return null;
  const steps = [
    { id: "provider", to: "/providers/new", done: providers.data.items.length > 0 },
    { id: "key", to: "/keys/new", done: keyList.data.items.length > 0 },
    { id: "request", to: "/client-setup", done: stats.data.totals.requests > 0 },
    { id: "route", to: "/routes/new", done: routes.data.items.some((r) => r.tag === "stored" && (r.members?.length ?? 0) > 1) },
  ] as const;
  const shown = steps.filter((s) => s.id !== "route" || hasPage("routes"));
  const next = shown.find((s) => !s.done);
  const done = shown.filter((s) => s.done).length;
  if (done === shown.length) return null;
  const hide = () => {
    try {
      localStorage.setItem(hidden, "1");
    } catch {
      // Then until the page is loaded again.
    }
    setGone(true);
  };
  return (
    <Box component="section" aria-label={t.first}>
      <Group justify="space-between" align="flex-start">
        <Box>
          <Title order={2}>{t.first}</Title>
          <Text size="sm" c="dimmed">
            {t.firstText} {t.step(done, shown.length)}.
          </Text>
        </Box>
        <Button variant="subtle" color="gray" size="compact-xs" onClick={hide}>
          {t.hide}
        </Button>
      </Group>
      <ol className="il-steps">
        {shown.map((s) => (
          <li key={s.id}>
            <Link to={s.to} className="il-tile" data-next={s === next || undefined}>
              {s.done ? <IconCircleCheckFilled size={20} style={{ flex: "none" }} color="var(--il-served)" aria-label={t.done} /> : <IconCircleDashed size={20} style={{ flex: "none" }} stroke={1.6} aria-label={t.open} />}
              <Box>
                <Text size="sm" fw={560}>
                  {t.steps[s.id].title}
                </Text>
                <Text size="xs" c="dimmed">
                  {t.steps[s.id].text}
                </Text>
              </Box>
            </Link>
          </li>
        ))}
      </ol>
    </Box>
  );
}
