import { IconPlugConnected } from "@tabler/icons-react";
import { definePage } from "../../app/pages";

export default definePage({
  id: "client-setup",
  group: "connect",
  order: 30,
  icon: IconPlugConnected,
  title: { en: "Client set-up", sv: "Anslut klienter" },
  keywords: "claude code codex sdk curl python node go cursor editor snippet connect base url",
  shortcut: "c",
  path: "/client-setup",
  routes: [{ path: "/client-setup", load: () => import("./ClientSetup") }],
});
