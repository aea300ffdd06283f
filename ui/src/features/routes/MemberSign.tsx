import { IconAlertTriangleFilled, IconCircleCheckFilled, IconCircleXFilled, IconPlayerPauseFilled } from "@tabler/icons-react";
import type { Schemas } from "../../api/client";
import { toneOfState, useWord } from "../../i18n/words";

export type Member = Schemas["Member"];

const signs = { good: IconCircleCheckFilled, bad: IconCircleXFilled, paused: IconPlayerPauseFilled, warning: IconAlertTriangleFilled, info: IconAlertTriangleFilled, neutral: IconPlayerPauseFilled };

// MemberSign is a member in a list: its name, and a sign if it is not well.
export function MemberSign({ member: m }: { member: Member }) {
  const tone = toneOfState(m.state);
  const Sign = signs[tone];
  const state = useWord()("state", m.state);
  return (
    <span className="il-member" data-tone={tone} title={state}>
      {tone === "good" ? null : <Sign size={12} role="img" aria-label={state} />}
      {m.provider}
    </span>
  );
}
