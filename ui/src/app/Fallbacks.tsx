import { Button, Code, Group, Skeleton, Stack, Text } from "@mantine/core";
import { IconMoodSad } from "@tabler/icons-react";
import { Link, useRouter, type ErrorComponentProps } from "@tanstack/react-router";
import { Problem } from "../api/problem";
import { EmptyState } from "../components/EmptyState";
import { ErrorState } from "../components/ErrorState";
import { PageHeader } from "../components/PageHeader";
import { common } from "../i18n/common";
import { useStrings } from "../i18n";

// PageCrash is for one page: the shell around it goes on.
export function PageCrash({ error, reset }: ErrorComponentProps) {
  const t = useStrings(common);
  const router = useRouter();
  if (error instanceof Problem) {
    return <ErrorState error={error} retry={() => { reset(); void router.invalidate(); }} />;
  }
  return (
    <EmptyState
      icon={IconMoodSad}
      title={t.crashTitle}
      text={
        <Stack gap="sm">
          <Text size="sm" c="dimmed">
            {t.crashText}
          </Text>
          <Code block ta="left">
            {String(error)}
          </Code>
        </Stack>
      }
      actions={<Button onClick={() => window.location.reload()}>{t.reload}</Button>}
    />
  );
}

export function NotFound() {
  const t = useStrings(common);
  return (
    <>
      <PageHeader title={t.notFoundTitle} intro={t.notFoundText} />
      <Button component={Link} to="/" variant="default">{t.home}</Button>
    </>
  );
}

export function PagePending() {
  const t = useStrings(common);
  return (
    <Stack gap="md" role="status" aria-label={t.loading}>
      <Skeleton height={24} width={220} />
      <Group gap="md"><Skeleton height={14} width="60%" /></Group>
      <Skeleton height={14} width="90%" />
      <Skeleton height={14} width="80%" />
    </Stack>
  );
}
