import { RouteForm } from "./RouteForm";

export default function RouteCreate() {
  return <RouteForm />;
}
