import { Alert, List } from "@mantine/core";
import { IconInfoCircle, IconLock } from "@tabler/icons-react";
import { common } from "../i18n/common";
import { useStrings } from "../i18n";

type Managed = { managedBy: "api" | "file" | "interlock"; managedIn?: string; warnings?: string[] };

// ObjectNotes says what a person should know before they change an object: who
// owns it, and what of it has no effect.
export function ObjectNotes({ object }: { object: Managed }) {
  const t = useStrings(common);
  return (
    <>
      {object.managedBy === "api" ? null : (
        <Alert color="blue" mb="md" p="sm" icon={<IconLock size={17} aria-hidden />}>
          {object.managedBy === "file" ? t.managedByFile(object.managedIn ?? "–") : t.managedByInterlock}
        </Alert>
      )}
      {object.warnings?.length ? (
        <Alert color="yellow" mb="md" title={t.reviewWarnings} icon={<IconInfoCircle size={18} aria-hidden />}>
          <List size="sm">
            {object.warnings.map((w) => (
              <List.Item key={w}>{w}</List.Item>
            ))}
          </List>
        </Alert>
      ) : null}
    </>
  );
}
