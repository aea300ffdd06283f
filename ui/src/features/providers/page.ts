import { IconServer2 } from "@tabler/icons-react";
import { definePage } from "../../app/pages";

export default definePage({
  id: "providers",
  group: "connect",
  order: 10,
  icon: IconServer2,
  title: { en: "Providers", sv: "Leverantörer" },
  keywords: "vendor openai anthropic upstream endpoint credential health drain test",
  shortcut: "p",
  path: "/providers",
  kind: "Provider",
  labels: async () => (await import("./strings")).strings,
  routes: [
    { path: "/providers", load: () => import("./ProviderList") },
    { path: "/providers/new", load: () => import("./Gallery") },
    { path: "/providers/new/$vendor", load: () => import("./ProviderCreate") },
    { path: "/providers/$name", load: () => import("./ProviderDetail") },
    { path: "/providers/$name/edit", load: () => import("./ProviderEdit") },
  ],
  find: async (q) => (await import("../../objects/collection")).collection("/providers").find(q),
  commands: [{ title: { en: "Add a provider", sv: "Lägg till en leverantör" }, path: "/providers/new", admin: true }],
});
