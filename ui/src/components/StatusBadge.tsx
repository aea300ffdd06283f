import { Badge } from "@mantine/core";
import {
  IconAlertTriangleFilled, IconCircleCheckFilled, IconCircleDashed, IconCircleXFilled, IconInfoCircleFilled, IconPlayerPauseFilled,
} from "@tabler/icons-react";
import type { ReactNode } from "react";

export type Tone = "good" | "warning" | "bad" | "info" | "paused" | "neutral";

const looks = {
  good: { color: "green", Icon: IconCircleCheckFilled },
  warning: { color: "yellow", Icon: IconAlertTriangleFilled },
  bad: { color: "red", Icon: IconCircleXFilled },
  info: { color: "blue", Icon: IconInfoCircleFilled },
  paused: { color: "violet", Icon: IconPlayerPauseFilled },
  neutral: { color: "gray", Icon: IconCircleDashed },
} as const;

// StatusBadge says a state by a sign and by words, and by colour besides.
export function StatusBadge({ tone, children, title }: { tone: Tone; children: ReactNode; title?: string }) {
  const { color, Icon } = looks[tone];
  return (
    <Badge color={color} leftSection={<Icon size={12} aria-hidden />} title={title}>
      {children}
    </Badge>
  );
}
