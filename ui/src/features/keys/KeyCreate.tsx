import { useState } from "react";
import type { Schemas } from "../../api/client";
import { useStrings } from "../../i18n";
import { ObjectForm } from "../../objects/ObjectForm";
import { KeyFields } from "./KeyFields";
import { keyForm } from "./keyModel";
import { SecretOnce } from "./SecretOnce";
import { strings } from "./strings";

export default function KeyCreate() {
  const t = useStrings(strings);
  const [made, setMade] = useState<Schemas["NewKey"]>();
  if (made) return <SecretOnce made={made} />;
  return (
    <ObjectForm def={keyForm} title={t.createTitle} intro={t.createIntro} labels={t.fields} action={t.create} onSaved={(answer) => setMade(answer as Schemas["NewKey"])}>
      {(fields) => <KeyFields {...fields} />}
    </ObjectForm>
  );
}
