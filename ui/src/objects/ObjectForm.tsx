import { Button } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { useRef, type ReactNode } from "react";
import { keys } from "../api/query";
import { PageHeader } from "../components/PageHeader";
import { FormProblem, SaveReview, useSaveReview } from "../components/SaveReview";
import { toast } from "../components/toast";
import { UnsavedGuard } from "../components/UnsavedGuard";
import { common } from "../i18n/common";
import { useStrings } from "../i18n";
import type { Loaded, Named } from "./collection";
import type { FieldsProps, ObjectFormDef } from "./form";
import { useListLink } from "./list";

type Props<T extends Named, I, V> = {
  def: ObjectFormDef<T, I, V>;
  title: string;
  intro?: ReactNode;
  // Where it leads without a save: the list, if nothing else is said.
  back?: { to: string; label: string };
  // The names of the fields in the review, by path.
  labels: Record<string, string>;
  // What the button of the review says, if it is not "Save".
  action?: string;
  start?: V;
  before?: Loaded<T>;
  reload?: () => void;
  // Instead of the page of the object.
  onSaved?: (answer: unknown) => void;
  // What the address of the object's page says after the save.
  search?: Record<string, string>;
  children: (fields: FieldsProps<T, V>) => ReactNode;
};

// ObjectForm creates an object, or changes the one that was loaded: it keeps
// the draft and guards it, shows what a save would change before it saves, and
// puts what the server refuses at its field.
export function ObjectForm<T extends Named, I, V extends { name: string }>({ def, before, ...props }: Props<T, I, V>) {
  const c = useStrings(common);
  const client = useQueryClient();
  const navigate = useNavigate();
  const list = useListLink(def.of);
  const back = props.back ?? list;
  const saved = useRef(false);
  const initialValues = useRef(props.start ?? def.values(before?.value)).current;
  const form = useForm<V>({ initialValues });
  const has = (path: string) => form.getInputNode(path) !== null || (def.shows?.test(path) ?? false);
  const write = (values: V, dryRun: boolean) => def.of.write(def.input(values, before?.value), before, dryRun);
  const review = useSaveReview({
    form,
    labels: props.labels,
    has,
    dryRun: () => write(form.values, true),
    save: async () => {
      const answer = await write(form.values, false);
      saved.current = true;
      // Before anything else can fail: the answer may be there only once.
      props.onSaved?.(answer);
      await client.invalidateQueries({ queryKey: keys.config });
      if (props.onSaved) return;
      const name = form.values.name.trim();
      toast(c.saved(name));
      await navigate({ to: def.of.href(name), search: props.search as never });
    },
  });
  return (
    <>
      <PageHeader title={props.title} intro={props.intro} back={back} />
      <form
        noValidate
        onSubmit={(e) => {
          e.preventDefault();
          void review.start();
        }}
      >
        <FormProblem problem={review.problem} reload={props.reload} />
        {props.children({ form, before: before?.value, has, check: (values) => write(values, true) })}
        <div className="il-formbar">
          <Button component={Link} to={back.to} variant="default">
            {c.cancel}
          </Button>
          <Button type="submit" loading={review.busy} disabled={before !== undefined && !form.isDirty()}>
            {c.reviewReview}
          </Button>
        </div>
      </form>
      <SaveReview review={review} action={props.action} />
      <UnsavedGuard dirty={form.isDirty()} saved={saved} />
    </>
  );
}
