import { useStrings } from "../../i18n";
import { ObjectForm } from "../../objects/ObjectForm";
import { RouteFields } from "./RouteFields";
import { routeForm, startOf } from "./routeModel";
import { strings } from "./strings";

export default function RouteCreate() {
  const t = useStrings(strings);
  return (
    <ObjectForm def={routeForm} start={startOf()} title={t.createTitle} intro={t.createIntro} labels={t.fields} action={t.create}>
      {(fields) => <RouteFields {...fields} />}
    </ObjectForm>
  );
}
