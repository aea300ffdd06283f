import { Alert, Button, Group, Stack, Text } from "@mantine/core";
import { IconAlertTriangle } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import type { Schemas } from "../../api/client";
import { rememberSecret } from "../../app/secretMemory";
import { CodeBlock } from "../../components/CodeBlock";
import { CopyButton } from "../../components/CopyButton";
import { PageHeader } from "../../components/PageHeader";
import { UnsavedGuard } from "../../components/UnsavedGuard";
import { useStrings } from "../../i18n";
import { strings } from "./strings";

// SecretOnce shows the secret of a new key the only time that anybody can, and
// guards it like something unsaved until it is said to be copied.
export function SecretOnce({ made }: { made: Schemas["NewKey"] }) {
  const t = useStrings(strings);
  const [copied, setCopied] = useState(false);
  useEffect(() => rememberSecret(made.name, made.secret), [made]);
  const to = `/keys/${encodeURIComponent(made.name)}`;
  const curl = `curl ${window.location.origin}/v1/models \\\n  -H "Authorization: Bearer ${made.secret}"`;
  return (
    <>
      <PageHeader title={t.createdTitle(made.name)} back={{ to: "/keys", label: t.title }} />
      <Stack gap="lg" maw={680}>
        <Alert color="yellow" icon={<IconAlertTriangle size={18} aria-hidden />} title={t.onceTitle}>
          {t.onceText}
        </Alert>
        <Group gap="xs" wrap="nowrap" className="il-panel" p="sm">
          <Text className="mono" size="sm" style={{ overflowWrap: "anywhere", flex: 1 }} data-testid="secret">
            {made.secret}
          </Text>
          <CopyButton value={made.secret} what={t.secret} wide />
        </Group>
        <Stack gap={6}>
          <Text size="sm" fw={560}>
            {t.tryIt}
          </Text>
          <CodeBlock label={t.tryIt} code={curl} shown={curl.replace(made.secret, "ilk_…")} />
        </Stack>
        <Group gap="xs">
          {copied ? (
            <>
              <Button component={Link} to="/client-setup">
                {t.setUpClient}
              </Button>
              <Button component={Link} to={to} variant="default">
                {t.toKey(made.name)}
              </Button>
            </>
          ) : (
            <Button onClick={() => setCopied(true)}>{t.onceDone}</Button>
          )}
        </Group>
      </Stack>
      <UnsavedGuard dirty={!copied} />
    </>
  );
}
