import { IconRoute } from "@tabler/icons-react";
import { definePage } from "../../app/pages";

export default definePage({
  id: "routes",
  group: "routing",
  order: 30,
  icon: IconRoute,
  title: { en: "Routes", sv: "Rutter" },
  keywords: "members failover strategy alias patterns pool",
  shortcut: "r",
  path: "/routes",
  kind: "Route",
  labels: async () => (await import("./strings")).strings,
  routes: [
    { path: "/routes", load: () => import("./RouteList") },
    { path: "/routes/new", load: () => import("./RouteCreate") },
    { path: "/routes/$name", load: () => import("./RouteDetail") },
    { path: "/routes/$name/edit", load: () => import("./RouteEdit") },
  ],
  find: async (q) => (await import("../../objects/collection")).collection("/routes").find(q),
  commands: [{ title: { en: "Create a route", sv: "Skapa en rutt" }, path: "/routes/new", admin: true }],
});
