import { IconRouteSquare } from "@tabler/icons-react";
import { definePage } from "../../app/pages";

export default definePage({
  id: "test",
  group: "routing",
  order: 10,
  icon: IconRouteSquare,
  title: { en: "Test routing", sv: "Prova dirigering" },
  keywords: "dry run explain decision resolve where why",
  shortcut: "t",
  path: "/test",
  routes: [{ path: "/test", load: () => import("./TestRouting") }],
});
