import { Button, Group } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconPencil, IconTrash } from "@tabler/icons-react";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { useCanWrite } from "../api/auth";
import { keys } from "../api/query";
import { PagePending } from "../app/Fallbacks";
import { ConfirmDialog } from "../components/ConfirmDialog";
import { ErrorState } from "../components/ErrorState";
import { ObjectNotes } from "../components/ObjectNotes";
import { PageHeader } from "../components/PageHeader";
import { StatusBadge, type Tone } from "../components/StatusBadge";
import { toast } from "../components/toast";
import { common } from "../i18n/common";
import { useStrings } from "../i18n";
import type { Collection, Loaded, Named } from "./collection";
import { useListLink } from "./list";

// ObjectPage loads the object that the address names, and follows its changes.
export function ObjectPage<T extends Named, I>({ of, every, children }: { of: Collection<T, I>; every?: number; children: (loaded: Loaded<T>) => ReactNode }) {
  const { name } = useParams({ strict: false }) as { name: string };
  const query = useQuery({ ...of.query(name), refetchInterval: every });
  const back = useListLink(of);
  if (query.isError) {
    return (
      <>
        <PageHeader title={name} back={back} />
        <ErrorState error={query.error} retry={() => void query.refetch()} />
      </>
    );
  }
  if (!query.isSuccess) return <PagePending />;
  return <>{children(query.data)}</>;
}

type Removal = {
  // For a kind whose objects are not deleted but, say, revoked.
  label?: string;
  title: string;
  // What it will break, one sentence each.
  consequences: string[];
  action?: string;
  typeName?: string;
  done?: string;
};

type Props<T extends Named, I> = {
  of: Collection<T, I>;
  loaded: Loaded<T>;
  state: { tone: Tone; text: string };
  intro?: ReactNode;
  // False for an object that the API answers with and that nobody can change.
  editable?: boolean;
  // Buttons for everybody, and for those who may change it.
  links?: ReactNode;
  operations?: ReactNode;
  remove: Removal;
  children: ReactNode;
};

// ObjectDetail is the frame of an object's page: its name and state, what can
// be done with it, and the question before it is deleted.
export function ObjectDetail<T extends Named, I>({ of, loaded, remove, ...props }: Props<T, I>) {
  const c = useStrings(common);
  const { value } = loaded;
  const canWrite = useCanWrite() && value.managedBy === "api" && props.editable !== false;
  const client = useQueryClient();
  const navigate = useNavigate();
  const [asking, ask] = useDisclosure();
  const onRemove = async () => {
    await of.remove(loaded);
    toast(remove.done ?? c.deleted(value.name));
    // Away first: this page would ask for what is gone.
    await navigate({ to: of.path });
    client.removeQueries({ queryKey: of.query(value.name).queryKey });
    await client.invalidateQueries({ queryKey: keys.config });
  };
  return (
    <>
      <PageHeader
        documentTitle={value.name}
        title={
          <Group gap="sm" component="span">
            {value.name}
            <StatusBadge tone={props.state.tone}>{props.state.text}</StatusBadge>
          </Group>
        }
        intro={props.intro}
        back={useListLink(of)}
        actions={
          <>
            {props.links}
            {canWrite ? (
              <>
                <Button component={Link} to={`${of.href(value.name)}/edit`} variant="default" leftSection={<IconPencil size={15} aria-hidden />}>
                  {c.edit}
                </Button>
                {props.operations}
                <Button variant="light" color="red" leftSection={<IconTrash size={15} aria-hidden />} onClick={ask.open}>
                  {remove.label ?? c.delete}
                </Button>
              </>
            ) : null}
          </>
        }
      />
      <ObjectNotes object={value} />
      {props.children}
      <ConfirmDialog
        opened={asking}
        onClose={ask.close}
        title={remove.title}
        consequences={remove.consequences}
        action={remove.action ?? c.delete}
        typeName={remove.typeName}
        onConfirm={onRemove}
      />
    </>
  );
}
