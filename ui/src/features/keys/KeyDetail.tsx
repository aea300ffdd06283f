import { Button, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconRefresh } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { Schemas } from "../../api/client";
import { CopyText } from "../../components/CopyButton";
import { Definitions } from "../../components/Definitions";
import { common } from "../../i18n/common";
import { formatRelative, formatTime } from "../../i18n/format";
import { useStrings } from "../../i18n";
import { useWord } from "../../i18n/words";
import type { Loaded } from "../../objects/collection";
import { ObjectDetail, ObjectPage } from "../../objects/ObjectDetail";
import { RequestsLink } from "../../objects/RequestsLink";
import { keysOf, ownerOf, stateOf, type Key } from "./keyModel";
import { lastUseQuery } from "./keyQueries";
import { RotateDialog } from "./RotateDialog";
import { SecretOnce } from "./SecretOnce";
import { strings } from "./strings";

export default function KeyDetail() {
  return <ObjectPage of={keysOf}>{(loaded) => <Detail loaded={loaded} />}</ObjectPage>;
}

function Detail({ loaded }: { loaded: Loaded<Key> }) {
  const t = useStrings(strings);
  const c = useStrings(common);
  const word = useWord();
  const key = loaded.value;
  const lastUse = useQuery(lastUseQuery(key.name)).data;
  const [rotating, rotate] = useDisclosure();
  const [made, setMade] = useState<Schemas["NewKey"]>();
  if (made) return <SecretOnce made={made} />;
  const h = key.dataHandling;
  const promises = [h?.zeroDataRetention && t.zdr, h?.noPromptTraining && t.training, h?.jurisdiction && `${t.jurisdiction}: ${h.jurisdiction}`].filter(Boolean).join(", ");
  return (
    <ObjectDetail
      of={keysOf}
      loaded={loaded}
      state={stateOf(key, t)}
      links={<RequestsLink by="key" name={key.name} />}
      operations={
        <Button variant="default" leftSection={<IconRefresh size={15} aria-hidden />} onClick={rotate.open}>
          {t.rotate}
        </Button>
      }
      remove={{
        label: t.revoke,
        title: t.revokeTitle(key.name),
        consequences: [
          lastUse ? t.revokeUsed(formatRelative(lastUse)) : t.revokeUnused,
          t.revokeNow,
          t.revokeForever,
          ...(key.providerCredential ? [t.revokeCredential(key.providerCredential.provider)] : []),
        ],
        action: t.revokeAction,
        typeName: lastUse ? key.name : undefined,
        done: t.revoked(key.name),
      }}
    >
      <Definitions
        items={[
          [t.type, `${word("keyType", key.type)}. ${t.typeHint[key.type]}`],
          [t.owner, ownerOf(key) || t.ownerNone],
          [t.team, key.team],
          [t.secret, <Text span size="sm" key="s" className="mono">…{key.last4}</Text>],
          [t.providers, key.allowedProviders?.join(", ") ?? t.anyProvider],
          [t.residencies, key.allowedResidencies?.join(", ") ?? t.anyResidency],
          [t.handling, promises],
          [t.credential, key.providerCredential?.provider],
          [t.expires, key.expiresAt ? `${formatTime(key.expiresAt)} (${formatRelative(key.expiresAt)})` : c.never],
          [t.lastUsed, lastUse === undefined ? "" : lastUse ? `${formatTime(lastUse)} (${formatRelative(lastUse)})` : t.never],
          [c.created, key.createdAt ? formatTime(key.createdAt) : undefined],
          [c.updated, key.updatedAt ? formatTime(key.updatedAt) : undefined],
          [t.fields.rotatedFrom!, key.rotatedFrom],
          [t.id, <CopyText key="id" value={key.id ?? ""} what={t.id} />],
        ]}
      />
      <RotateDialog name={key.name} opened={rotating} onClose={rotate.close} onMade={setMade} />
    </ObjectDetail>
  );
}
