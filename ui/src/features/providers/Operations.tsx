import { useQueryClient } from "@tanstack/react-query";
import { api, type Schemas } from "../../api/client";
import { keys } from "../../api/query";
import { ConfirmDialog } from "../../components/ConfirmDialog";
import { toast, toastProblem } from "../../components/toast";
import { useStrings } from "../../i18n";
import { losses } from "./health";
import { strings } from "./strings";

type Dialog = { routes: Schemas["RouteHealth"][]; opened: boolean; onClose: () => void };

function useSetDrained(name: string) {
  const client = useQueryClient();
  return async (drained: boolean) => {
    await api.POST("/providers/{name}/drain", { params: { path: { name } }, body: { drained } });
    await Promise.all([client.invalidateQueries({ queryKey: keys.config }), client.invalidateQueries({ queryKey: keys.health })]);
  };
}

export function useUndrain(name: string): () => void {
  const t = useStrings(strings);
  const set = useSetDrained(name);
  return () => void set(false).then(() => toast(t.undrained(name)), toastProblem);
}

export function DrainDialog({ name, routes, opened, onClose }: Dialog & { name: string }) {
  const t = useStrings(strings);
  const set = useSetDrained(name);
  return (
    <ConfirmDialog
      opened={opened}
      onClose={onClose}
      title={t.drainTitle(name)}
      danger={false}
      consequences={[t.drainEffect, ...losses(name, routes, t), t.drainKept]}
      action={t.drainAction}
      onConfirm={async () => {
        await set(true);
        toast(t.drained(name));
      }}
    />
  );
}
