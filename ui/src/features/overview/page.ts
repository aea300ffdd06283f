import { IconLayoutDashboard } from "@tabler/icons-react";
import { definePage } from "../../app/pages";

export default definePage({
  id: "overview",
  group: "observe",
  order: 10,
  icon: IconLayoutDashboard,
  title: { en: "Overview", sv: "Översikt" },
  keywords: "dashboard home start traffic errors cost",
  shortcut: "o",
  path: "/",
  routes: [{ path: "/", load: () => import("./Overview") }],
});
