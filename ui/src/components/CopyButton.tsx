import { ActionIcon, Button, Group, Text, Tooltip } from "@mantine/core";
import { IconCheck, IconCopy } from "@tabler/icons-react";
import { useEffect, useState } from "react";
import { common } from "../i18n/common";
import { useStrings } from "../i18n";

async function toClipboard(text: string): Promise<void> {
  if (navigator.clipboard && window.isSecureContext) return navigator.clipboard.writeText(text);
  // Over plain http the clipboard API is not there.
  const area = document.createElement("textarea");
  area.value = text;
  area.setAttribute("readonly", "");
  area.style.position = "fixed";
  area.style.opacity = "0";
  document.body.append(area);
  area.select();
  document.execCommand("copy");
  area.remove();
}

// CopyText is a value for machines that people copy.
export function CopyText({ value, what }: { value: string; what: string }) {
  return (
    <Group gap={4} wrap="nowrap" my={-4}>
      <Text span size="xs" className="mono" style={{ overflowWrap: "anywhere" }}>{value}</Text>
      <CopyButton value={value} what={what} />
    </Group>
  );
}

// CopyButton copies a value; what says in a label what that is.
export function CopyButton({ value, what, wide }: { value: string; what?: string; wide?: boolean }) {
  const t = useStrings(common);
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return undefined;
    const timer = setTimeout(() => setCopied(false), 1600);
    return () => clearTimeout(timer);
  }, [copied]);
  const copy = () => void toClipboard(value).then(() => setCopied(true), () => undefined);
  const icon = copied ? <IconCheck size={15} aria-hidden /> : <IconCopy size={15} aria-hidden />;
  const label = `${copied ? t.copied : t.copy}${what ? `: ${what}` : ""}`;
  if (wide) {
    return (
      <Button variant="default" leftSection={icon} onClick={copy} aria-live="polite">
        {copied ? t.copied : t.copy}
      </Button>
    );
  }
  return (
    <Tooltip label={label}>
      <ActionIcon aria-label={label} onClick={copy} size={26}>
        {icon}
      </ActionIcon>
    </Tooltip>
  );
}
