import { Alert, Anchor, Box, Code, Group, Table, Text, Title } from "@mantine/core";
import { IconArrowNarrowRight, IconBan } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { Schemas } from "../api/client";
import { useStrings } from "../i18n";
import { useWord } from "../i18n/words";
import { Candidate } from "./Candidate";
import type { Attempt, Skip } from "./outcome";
import { strings } from "./strings";
import "./plan.css";

type Props = {
  plan: Schemas["Plan"];
  // Members that can't serve; without it they are read from the plan's steps.
  excluded?: Exclusion[];
  // What came of it, for a request that was made.
  attempts?: Attempt[];
  skips?: Skip[];
};

// PlanView shows a decision: the way of the request as a diagram, and below it
// each step with its reason, in the words of the API. The dry run, a request
// and a preview all use it.
export function PlanView({ plan, excluded, attempts, skips }: Props) {
  const t = useStrings(strings);
  const word = useWord();
  const out = excluded ?? exclusionsOf(plan);
  const wire = plan.candidates[0]?.wireModel;
  return (
    <Box>
      {plan.refusal ? <Refused refusal={plan.refusal} /> : null}
      <Title order={2} mb="sm">{attempts ? t.diagramPast : t.diagram}</Title>
      <div className="il-plan">
        <Node label={t.model}>
          <Text size="sm" fw={600} className="mono">{plan.model}</Text>
          {wire && wire !== plan.model ? <Text size="xs" c="dimmed">{t.servedAs(wire)}</Text> : null}
          {plan.alias ? <Text size="xs" c="dimmed">{t.alias}</Text> : null}
        </Node>
        <Arrow />
        <Node label={t.route}>
          {plan.route ? (
            <Anchor component={Link} to={`/routes/${encodeURIComponent(plan.route)}`} size="sm" fw={600}>{plan.route}</Anchor>
          ) : (
            <Text size="sm" fw={600}>{t.noRoute}</Text>
          )}
          <Text size="xs" c="dimmed">{t.revision(plan.revision)}</Text>
        </Node>
        <Arrow />
        <div className="il-plan-members">
          {plan.refusal && out.length === 0 ? <Node label={t.refused}><Text size="sm" fw={600}>{word("finding", plan.refusal.code)}</Text></Node> : null}
          {plan.candidates.length > 0 ? (
            <>
              <Text size="xs" c="dimmed" mb={6}>{t.members}</Text>
              <ol className="il-plan-list">
                {plan.candidates.map((c, i) => (
                  <Candidate key={c.provider + c.credential + i} candidate={c} place={i + 1} attempts={attempts} skips={skips} />
                ))}
              </ol>
              {!plan.failover && plan.candidates.length > 1 ? <Text size="xs" c="dimmed" mt={6}>{t.onlyOne}</Text> : null}
            </>
          ) : null}
          {out.length > 0 ? (
            <>
              <Text size="xs" c="dimmed" mt="sm" mb={6}>{t.excluded}</Text>
              <ul className="il-plan-list" data-out>
                {out.map((e) => (
                  <li key={e.provider + e.code} className="il-plan-out">
                    <IconBan size={14} aria-hidden />
                    <span>
                      <Text span size="sm" fw={550}>{e.provider}</Text>
                      <Text size="xs" c="dimmed" title={e.code}>{word("finding", e.code)}{e.reason ? `: ${e.reason}` : ""}</Text>
                    </span>
                  </li>
                ))}
              </ul>
            </>
          ) : null}
        </div>
      </div>
      <Title order={2} mt="xl" mb="xs">{t.trace}</Title>
      <Trace steps={plan.steps} />
    </Box>
  );
}

function Node({ label, children }: { label: string; children: ReactNode }) {
  return (
    <div className="il-plan-node">
      <Text size="xs" c="dimmed">{label}</Text>
      {children}
    </div>
  );
}

function Arrow() {
  return <IconArrowNarrowRight className="il-plan-arrow" size={22} stroke={1.5} aria-hidden />;
}

function Refused({ refusal }: { refusal: Schemas["PlanRefusal"] }) {
  const t = useStrings(strings);
  return (
    <Alert color="red" variant="light" mb="lg" icon={<IconBan size={18} aria-hidden />} title={<Group gap={6}>{t.refused} <Code>{refusal.code}</Code> <Text span size="xs">{t.status(refusal.status)}</Text></Group>}>
      <Text size="sm" className="il-sentence">{refusal.message}</Text>
      {refusal.retry ? <Text size="xs" c="dimmed" mt={4}>{t.retry}</Text> : null}
    </Alert>
  );
}

function Trace({ steps }: { steps: Schemas["PlanStep"][] }) {
  const t = useStrings(strings);
  const word = useWord();
  return (
    <Box className="il-tablebox">
      <Table className="il-table" aria-label={t.traceLabel} withRowBorders={false}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th visibleFrom="sm">{t.stage}</Table.Th>
            <Table.Th>{t.code}</Table.Th>
            <Table.Th>{t.subject}</Table.Th>
            <Table.Th>{t.detail}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {steps.map((s, i) => (
            <Table.Tr key={i}>
              <Table.Td visibleFrom="sm"><Text span size="sm" c="dimmed">{word("stage", s.stage)}</Text></Table.Td>
              <Table.Td>
                <Text span size="sm">{word("finding", s.code)}</Text>
                <Text size="xs" c="dimmed" className="mono">{s.code}</Text>
              </Table.Td>
              <Table.Td><Text span size="sm" fw={550}>{s.subject}</Text></Table.Td>
              <Table.Td><Text span size="sm">{s.detail}</Text></Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Box>
  );
}

type Exclusion = { provider: string; code: string; reason: string };

// exclusionsOf reads the members that were left out from the steps. One that
// takes the caller's credential in place of its own stays in.
export function exclusionsOf(plan: Schemas["Plan"]): Exclusion[] {
  return plan.steps.filter((s) => s.stage === "member" && s.code !== "global-passthrough").map((s) => ({ provider: s.subject, code: s.code, reason: s.detail ?? "" }));
}
