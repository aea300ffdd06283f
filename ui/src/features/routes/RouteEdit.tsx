import { useStrings } from "../../i18n";
import { ObjectEdit } from "../../objects/ObjectEdit";
import { RouteFields } from "./RouteFields";
import { routeForm } from "./routeModel";
import { strings } from "./strings";

export default function RouteEdit() {
  return (
    <ObjectEdit def={routeForm} labels={useStrings(strings).fields}>
      {(fields) => <RouteFields {...fields} />}
    </ObjectEdit>
  );
}
