import { Button, Group, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconPencil, IconRefresh, IconTrash } from "@tabler/icons-react";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import { useState } from "react";
import { useCanWrite } from "../../api/auth";
import { api, ifMatch, type Schemas } from "../../api/client";
import { keys } from "../../api/query";
import { PagePending } from "../../app/Fallbacks";
import { ConfirmDialog } from "../../components/ConfirmDialog";
import { CopyButton } from "../../components/CopyButton";
import { Definitions } from "../../components/Definitions";
import { ErrorState } from "../../components/ErrorState";
import { ObjectNotes } from "../../components/ObjectNotes";
import { PageHeader } from "../../components/PageHeader";
import { StatusBadge } from "../../components/StatusBadge";
import { toast } from "../../components/toast";
import { common } from "../../i18n/common";
import { formatRelative, formatTime } from "../../i18n/format";
import { useStrings } from "../../i18n";
import { ownerOf, stateOf, type Key } from "./keyModel";
import { keyQuery, lastUseQuery } from "./keyQueries";
import { RotateDialog } from "./RotateDialog";
import { SecretOnce } from "./SecretOnce";
import { strings } from "./strings";

export default function KeyDetail() {
  const { name } = useParams({ strict: false }) as { name: string };
  const query = useQuery(keyQuery(name));
  if (query.isError) return <ErrorState error={query.error} retry={() => void query.refetch()} />;
  if (!query.isSuccess) return <PagePending />;
  return <Detail data={query.data.value} etag={query.data.etag} />;
}

function Detail({ data: key, etag }: { data: Key; etag: string }) {
  const t = useStrings(strings);
  const c = useStrings(common);
  const canWrite = useCanWrite() && key.managedBy === "api";
  const client = useQueryClient();
  const navigate = useNavigate();
  const lastUse = useQuery(lastUseQuery(key.name)).data;
  const [rotating, rotate] = useDisclosure();
  const [revoking, revoke] = useDisclosure();
  const [made, setMade] = useState<Schemas["NewKey"]>();
  const state = stateOf(key, t);
  const to = `/keys/${encodeURIComponent(key.name)}`;
  const onRevoke = async () => {
    await api.DELETE("/keys/{name}", { params: { path: { name: key.name }, header: ifMatch(etag) } });
    toast(t.revoked(key.name));
    await navigate({ to: "/keys" });
    client.removeQueries({ queryKey: keys.object("keys", key.name) });
    await client.invalidateQueries({ queryKey: keys.config });
  };
  if (made) return <SecretOnce made={made} />;
  const h = key.dataHandling;
  const promises = [h?.zeroDataRetention && t.zdr, h?.noPromptTraining && t.training, h?.jurisdiction && `${t.jurisdiction}: ${h.jurisdiction}`].filter(Boolean).join(", ");
  return (
    <>
      <PageHeader
        documentTitle={key.name}
        title={
          <Group gap="sm" component="span">
            {key.name}
            <StatusBadge tone={state.tone}>{state.text}</StatusBadge>
          </Group>
        }
        back={{ to: "/keys", label: t.title }}
        actions={
          canWrite ? (
            <>
              <Button component={Link} to={`${to}/edit`} variant="default" leftSection={<IconPencil size={15} aria-hidden />}>
                {c.edit}
              </Button>
              <Button variant="default" leftSection={<IconRefresh size={15} aria-hidden />} onClick={rotate.open}>
                {t.rotate}
              </Button>
              <Button variant="light" color="red" leftSection={<IconTrash size={15} aria-hidden />} onClick={revoke.open}>
                {t.revoke}
              </Button>
            </>
          ) : null
        }
      />
      <ObjectNotes object={key} />
      <Definitions
        items={[
          [t.type, `${t.types[key.type]}. ${t.typeHint[key.type]}`],
          [t.owner, ownerOf(key) || t.ownerNone],
          [t.team, key.team],
          [t.secret, <Text span size="sm" key="s" className="mono">{t.endsWith(key.last4 ?? "")}</Text>],
          [t.providers, key.allowedProviders?.join(", ") ?? t.anyProvider],
          [t.residencies, key.allowedResidencies?.join(", ") ?? t.anyResidency],
          [t.handling, promises],
          [t.credential, key.providerCredential?.provider],
          [t.expires, key.expiresAt ? `${formatTime(key.expiresAt)} (${formatRelative(key.expiresAt)})` : c.never],
          [t.lastUsed, lastUse === undefined ? "" : lastUse ? `${formatTime(lastUse)} (${formatRelative(lastUse)})` : t.never],
          [c.created, key.createdAt ? formatTime(key.createdAt) : undefined],
          [c.updated, key.updatedAt ? formatTime(key.updatedAt) : undefined],
          ["", key.rotatedFrom ? t.successorOf(key.rotatedFrom) : undefined],
          [t.id, <Group gap={4} key="id"><Text span size="xs" className="mono">{key.id}</Text><CopyButton value={key.id ?? ""} what={t.id} /></Group>],
        ]}
      />
      <RotateDialog name={key.name} opened={rotating} onClose={rotate.close} onMade={setMade} />
      <ConfirmDialog
        opened={revoking}
        onClose={revoke.close}
        title={t.revokeTitle(key.name)}
        consequences={[
          lastUse ? t.revokeUsed(formatRelative(lastUse)) : t.revokeUnused,
          t.revokeNow,
          t.revokeForever,
          ...(key.providerCredential ? [t.revokeCredential(key.providerCredential.provider)] : []),
        ]}
        action={t.revokeAction}
        typeName={lastUse ? key.name : undefined}
        onConfirm={onRevoke}
      />
    </>
  );
}
