import { Anchor, Box, Table, Text, Title } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import type { Schemas } from "../../api/client";
import { StatusBadge } from "../../components/StatusBadge";
import { formatClock, formatMs } from "../../i18n/format";
import { useStrings } from "../../i18n";
import { toneOfOutcome, useWord } from "../../i18n/words";
import { strings } from "./strings";
import "./requests.css";

// Attempts shows each dial with a bar from when to when it ran.
export function Attempts({ record: r }: { record: Schemas["AuditRecord"] }) {
  const t = useStrings(strings);
  const word = useWord();
  const attempts = r.attempts ?? [];
  const whole = Math.max(r.durationMs ?? 0, ...attempts.map((a) => a.startMs + a.durationMs), 0.001);
  return (
    <Box component="section" mt="xl">
      <Title order={2} mb="xs">{t.attemptsTitle}</Title>
      <Box className="il-tablebox">
        <Table className="il-table" aria-label={t.attemptsTitle} withRowBorders={false}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{t.asked}</Table.Th>
              <Table.Th>{t.result}</Table.Th>
              <Table.Th visibleFrom="sm">{t.credential}</Table.Th>
              <Table.Th visibleFrom="sm" w="36%">{t.timeline}</Table.Th>
              <Table.Th ta="right">{t.took}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {attempts.map((a, i) => (
              <Table.Tr key={i}>
                <Table.Td>
                  <Anchor component={Link} to={`/providers/${encodeURIComponent(a.provider)}`} size="sm" fw={550} c="var(--mantine-color-text)">{a.provider}</Anchor>
                  <Text size="xs" c="dimmed"><span className="mono">{a.wireModel}</span>{a.retry ? ` · ${t.retry}` : ""}</Text>
                </Table.Td>
                <Table.Td>
                  <StatusBadge tone={toneOfOutcome(a.outcome)} title={a.category}>{a.category ? word("category", a.category) : word("outcome", a.outcome)}</StatusBadge>
                  <Text size="xs" c="dimmed" className="num">{[a.status || "", a.code ?? ""].filter(Boolean).join(" ")}</Text>
                </Table.Td>
                <Table.Td visibleFrom="sm"><Text span size="sm">{word("credential", a.credential)}</Text></Table.Td>
                <Table.Td visibleFrom="sm">
                  <div className="il-time" title={`${t.start} ${formatMs(a.startMs)}`}>
                    <span data-bad={a.outcome !== "allow" || undefined} style={{ marginInlineStart: `${(100 * a.startMs) / whole}%`, width: `${Math.max(0.8, (100 * a.durationMs) / whole)}%` }} />
                  </div>
                </Table.Td>
                <Table.Td data-align="right" ta="right">{formatMs(a.durationMs)}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Box>
      {(r.skips?.length ?? 0) > 0 ? (
        <>
          <Title order={3} mt="md" mb={4} fz="sm">{t.skipsTitle}</Title>
          {r.skips!.map((s) => (
            <Text size="sm" key={s.provider}>
              {s.provider}: {word("state", s.skipReason)}{s.category ? `, ${word("category", s.category)}` : ""} {s.until ? t.until(formatClock(s.until, false)) : ""}
            </Text>
          ))}
        </>
      ) : null}
    </Box>
  );
}
