import { IconListSearch } from "@tabler/icons-react";
import { definePage } from "../../app/pages";

export default definePage({
  id: "requests",
  group: "observe",
  order: 20,
  icon: IconListSearch,
  title: { en: "Requests", sv: "Anrop" },
  keywords: "log audit activity decision why errors refused failover",
  shortcut: "a",
  path: "/requests",
  routes: [
    { path: "/requests", load: () => import("./RequestList") },
    { path: "/requests/$id", load: () => import("./RequestDetail") },
  ],
  commands: [
    { title: { en: "Requests that failed", sv: "Anrop som misslyckades" }, path: "/requests?outcome=error" },
    { title: { en: "Requests that were refused", sv: "Anrop som nekades" }, path: "/requests?outcome=deny" },
  ],
});
