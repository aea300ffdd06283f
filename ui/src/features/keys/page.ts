import { IconKey } from "@tabler/icons-react";
import { definePage } from "../../app/pages";

export default definePage({
  id: "keys",
  group: "connect",
  order: 20,
  icon: IconKey,
  title: { en: "Keys", sv: "Nycklar" },
  keywords: "token secret credential caller rotate revoke",
  shortcut: "k",
  path: "/keys",
  kind: "Key",
  labels: async () => (await import("./strings")).strings,
  routes: [
    { path: "/keys", load: () => import("./KeyList") },
    { path: "/keys/new", load: () => import("./KeyCreate") },
    { path: "/keys/$name", load: () => import("./KeyDetail") },
    { path: "/keys/$name/edit", load: () => import("./KeyEdit") },
  ],
  find: async (q) => (await import("../../objects/collection")).collection("/keys").find(q),
  commands: [{ title: { en: "Create a key", sv: "Skapa en nyckel" }, path: "/keys/new", admin: true }],
});
