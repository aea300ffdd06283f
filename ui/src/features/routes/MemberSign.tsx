import { IconAlertTriangleFilled, IconCircleCheckFilled, IconCircleXFilled, IconPlayerPauseFilled } from "@tabler/icons-react";
import type { Schemas } from "../../api/client";
import type { Tone } from "../../components/StatusBadge";
import { useStrings } from "../../i18n";
import { strings } from "./strings";

export type Member = Schemas["Member"];

export function toneOf(state?: string): Tone {
  switch (state) {
    case "healthy":
    case undefined:
      return "good";
    case "circuit_open":
    case "no_key":
      return "bad";
    case "parked":
    case "drained":
    case "disabled":
      return "paused";
    default:
      return "warning";
  }
}

const signs = { good: IconCircleCheckFilled, bad: IconCircleXFilled, paused: IconPlayerPauseFilled, warning: IconAlertTriangleFilled, info: IconAlertTriangleFilled, neutral: IconPlayerPauseFilled };

// MemberSign is a member in a list: its name, and a sign if it is not well.
export function MemberSign({ member: m }: { member: Member }) {
  const t = useStrings(strings);
  const tone = toneOf(m.state);
  const Sign = signs[tone];
  const state = t.memberState[m.state ?? "healthy"] ?? m.state;
  return (
    <span className="il-member" data-tone={tone} title={state}>
      {tone === "good" ? null : <Sign size={12} role="img" aria-label={state} />}
      {m.provider}
    </span>
  );
}
