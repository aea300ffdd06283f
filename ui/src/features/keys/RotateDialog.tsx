import { Select } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api, data, type Schemas } from "../../api/client";
import { keys } from "../../api/query";
import { ConfirmDialog } from "../../components/ConfirmDialog";
import { useStrings } from "../../i18n";
import { strings } from "./strings";

const overlaps = ["0", "3600", "86400", "604800", "2592000"] as const;
type Overlap = (typeof overlaps)[number];

type Props = { name: string; opened: boolean; onClose: () => void; onMade: (made: Schemas["NewKey"]) => void };

export function RotateDialog({ name, opened, onClose, onMade }: Props) {
  const t = useStrings(strings);
  const client = useQueryClient();
  const [overlap, setOverlap] = useState<Overlap>("86400");
  const rotate = async () => {
    const made = await data(api.POST("/keys/{name}/rotate", { params: { path: { name } }, body: { overlapSeconds: Number(overlap) } }));
    onMade(made as Schemas["NewKey"]);
    await client.invalidateQueries({ queryKey: keys.config });
  };
  return (
    <ConfirmDialog
      opened={opened}
      onClose={onClose}
      title={t.rotateTitle(name)}
      consequences={[t.rotateText(name), overlap === "0" ? t.rotateNow : t.rotateLater(t.overlaps[overlap])]}
      action={t.rotateAction}
      danger={overlap === "0"}
      onConfirm={rotate}
    >
      <Select label={t.overlap} value={overlap} onChange={(v) => setOverlap((v ?? "86400") as Overlap)} data={overlaps.map((value) => ({ value, label: t.overlaps[value] }))} />
    </ConfirmDialog>
  );
}
