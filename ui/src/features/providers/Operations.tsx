import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { api, ifMatch, type Schemas } from "../../api/client";
import { keys } from "../../api/query";
import { ConfirmDialog } from "../../components/ConfirmDialog";
import { toast, toastProblem } from "../../components/toast";
import { common } from "../../i18n/common";
import { useStrings } from "../../i18n";
import { losses } from "./health";
import type { Provider } from "./providerModel";
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

export function DeleteDialog({ provider: p, etag, routes, opened, onClose }: Dialog & { provider: Provider; etag: string }) {
  const t = useStrings(strings);
  const c = useStrings(common);
  const client = useQueryClient();
  const navigate = useNavigate();
  const users = (p.usedBy ?? []).map((u) => t.removeUsed(`${u.kind} ${u.name}`));
  const remove = async () => {
    await api.DELETE("/providers/{name}", { params: { path: { name: p.name }, header: ifMatch(etag) } });
    toast(c.deleted(p.name));
    await navigate({ to: "/providers" });
    client.removeQueries({ queryKey: keys.object("providers", p.name) });
    await client.invalidateQueries({ queryKey: keys.config });
  };
  return (
    <ConfirmDialog
      opened={opened}
      onClose={onClose}
      title={t.removeTitle(p.name)}
      consequences={users.length > 0 ? users : [...losses(p.name, routes, t), t.removeModels, ...(p.hasApiKey ? [t.removeCredential] : [])]}
      action={t.removeAction}
      onConfirm={remove}
    />
  );
}
