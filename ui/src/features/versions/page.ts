import { IconHistory } from "@tabler/icons-react";
import { definePage } from "../../app/pages";

export default definePage({
  id: "versions",
  group: "manage",
  order: 40,
  icon: IconHistory,
  title: { en: "Versions", sv: "Versioner" },
  keywords: "history diff restore roll back undo change who",
  shortcut: "v",
  path: "/versions",
  routes: [
    { path: "/versions", load: () => import("./VersionList") },
    { path: "/versions/$version", load: () => import("./VersionDetail") },
  ],
});
