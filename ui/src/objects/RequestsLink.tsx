import { Button } from "@mantine/core";
import { IconListSearch } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { hasPage } from "../app/pages";
import { common } from "../i18n/common";
import { useStrings } from "../i18n";

// RequestsLink leads from an object to the requests that had to do with it.
export function RequestsLink({ by, name }: { by: "key" | "provider" | "route"; name: string }) {
  const c = useStrings(common);
  if (!hasPage("requests")) return null;
  return (
    <Button component={Link} to={`/requests?${by}=${encodeURIComponent(name)}` as string} variant="default" leftSection={<IconListSearch size={15} aria-hidden />}>
      {c.requests}
    </Button>
  );
}
