import { Button, Group, NumberInput, Stack, Text, Title } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconRestore } from "@tabler/icons-react";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useCanWrite } from "../../api/auth";
import type { Schemas } from "../../api/client";
import { keys } from "../../api/query";
import { PagePending } from "../../app/Fallbacks";
import { ChangeList } from "../../components/ChangeList";
import { ConfirmDialog } from "../../components/ConfirmDialog";
import { Definitions } from "../../components/Definitions";
import { ErrorState } from "../../components/ErrorState";
import { PageHeader } from "../../components/PageHeader";
import { StatusBadge } from "../../components/StatusBadge";
import { toast } from "../../components/toast";
import { formatTime } from "../../i18n/format";
import { useStrings } from "../../i18n";
import { diffQuery, newestQuery, restore, versionQuery } from "./queries";
import { strings } from "./strings";

export default function VersionDetail() {
  const { version } = useParams({ strict: false }) as { version: string };
  const query = useQuery(versionQuery(Number(version)));
  const newest = useQuery(newestQuery);
  if (query.isError) return <ErrorState error={query.error} retry={() => void query.refetch()} />;
  if (newest.isError) return <ErrorState error={newest.error} retry={() => void newest.refetch()} />;
  if (!query.isSuccess || !newest.isSuccess) return <PagePending />;
  return <Detail version={query.data} newest={newest.data} />;
}

function Detail({ version: v, newest }: { version: Schemas["ConfigVersionDetail"]; newest: number }) {
  const t = useStrings(strings);
  const canWrite = useCanWrite();
  const client = useQueryClient();
  const navigate = useNavigate();
  const search = useSearch({ strict: false }) as { to?: string };
  const to = /^\d+$/.test(search.to ?? "") ? Number(search.to) : undefined;
  const [restoring, dialog] = useDisclosure();
  const preview = useQuery({ queryKey: ["config", "restore", v.version, newest], queryFn: () => restore(v.version, true), enabled: restoring, staleTime: 0 });
  const nothing = preview.isSuccess && preview.data.changes.length === 0;
  const stopped = (preview.data?.changes ?? []).filter((d) => d.kind === "Key" && d.action === "delete").map((d) => d.name);
  const onRestore = async () => {
    const made = await restore(v.version, false);
    toast(t.restored(made.revision));
    await client.invalidateQueries({ queryKey: keys.config });
    await navigate({ to: `/versions/${made.revision}` as string });
  };
  return (
    <>
      <PageHeader
        documentTitle={t.number(v.version)}
        title={
          <Group gap="sm" component="span">
            {t.number(v.version)}
            {v.version === newest ? <StatusBadge tone="good">{t.inUse}</StatusBadge> : null}
          </Group>
        }
        intro={v.summary}
        back={{ to: "/versions", label: t.title }}
        actions={
          canWrite && v.version !== newest ? <Button variant="default" leftSection={<IconRestore size={15} aria-hidden />} onClick={dialog.open}>{t.restore}</Button> : null
        }
      />
      <Definitions items={[[t.actor, v.actor], [t.time, formatTime(v.time)], [t.holds, t.objects(v.objects.length)]]} />
      <Title order={2} mt="xl" mb="xs">{t.changed}</Title>
      <ChangeList changes={{ changes: v.changes, revision: v.version, warnings: [] }} compared />
      <Compare version={v.version} newest={newest} to={to} />
      <ConfirmDialog
        opened={restoring}
        onClose={dialog.close}
        title={t.restoreTitle(v.version)}
        consequences={nothing ? [t.restoreNothing] : [t.restoreNew(preview.data?.revision ?? newest + 1), ...stopped.map((k) => t.restoreKey(k)), t.restoreKeeps]}
        action={t.restoreAction}
        danger={stopped.length > 0}
        onConfirm={onRestore}
      >
        <Stack gap={6} style={{ maxHeight: 320, overflow: "auto" }} tabIndex={0} role="region" aria-label={t.willChange}>
          {preview.isPending ? <Text size="sm" c="dimmed">{t.checking}</Text> : null}
          {preview.isError ? <ErrorState error={preview.error} /> : null}
          {preview.isSuccess && !nothing ? <ChangeList changes={preview.data} /> : null}
        </Stack>
      </ConfirmDialog>
    </>
  );
}

function Compare({ version, newest, to }: { version: number; newest: number; to?: number }) {
  const t = useStrings(strings);
  const navigate = useNavigate();
  const diff = useQuery({ ...diffQuery(version, to ?? newest), enabled: to !== undefined });
  const compare = (other: number) => void navigate({ to: ".", replace: true, search: { to: String(other) } as never });
  return (
    <section aria-label={t.compare}>
      <Title order={2} mt="xl" mb="xs">{t.compare}</Title>
      <form
        onSubmit={(e) => {
          e.preventDefault();
          compare(Number(new FormData(e.currentTarget).get("to") ?? newest));
        }}
      >
        <Group gap="xs" align="flex-end">
          <NumberInput size="xs" w={130} name="to" label={t.against} min={0} max={newest} allowDecimal={false} defaultValue={to ?? (version === newest ? Math.max(0, version - 1) : newest)} key={to} />
          <Button size="xs" variant="default" type="submit">{t.compare}</Button>
          {version !== newest ? <Button size="xs" variant="subtle" onClick={() => compare(newest)}>{t.newest}</Button> : null}
          {version > 0 ? <Button size="xs" variant="subtle" onClick={() => compare(version - 1)}>{t.previous}</Button> : null}
        </Group>
      </form>
      {diff.isError ? <ErrorState error={diff.error} /> : null}
      {to !== undefined && diff.isSuccess ? (
        <Stack gap="sm" mt="md" aria-live="polite">
          <Text size="sm" c="dimmed">{t.fromTo(version, to)}</Text>
          {diff.data.changes.length === 0 ? <Text size="sm">{t.sameAs}</Text> : <ChangeList changes={{ changes: diff.data.changes, revision: to, warnings: [] }} compared />}
        </Stack>
      ) : null}
    </section>
  );
}
