import { useStrings } from "../../i18n";
import { ObjectEdit } from "../../objects/ObjectEdit";
import { KeyFields } from "./KeyFields";
import { keyForm } from "./keyModel";
import { strings } from "./strings";

export default function KeyEdit() {
  return (
    <ObjectEdit def={keyForm} labels={useStrings(strings).fields}>
      {(fields) => <KeyFields {...fields} />}
    </ObjectEdit>
  );
}
