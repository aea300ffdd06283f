import { useStrings } from "../../i18n";
import { ObjectEdit } from "../../objects/ObjectEdit";
import { ProviderFields } from "./ProviderFields";
import { providerForm } from "./providerModel";
import { strings } from "./strings";
import { vendorOf } from "./vendors";

export default function ProviderEdit() {
  return (
    <ObjectEdit def={providerForm} labels={useStrings(strings).fields}>
      {(fields) => <ProviderFields {...fields} vendor={fields.before && vendorOf(fields.before)} />}
    </ObjectEdit>
  );
}
