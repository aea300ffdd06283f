import { ActionIcon, Button, Checkbox, Group, NumberInput, Select, Text, VisuallyHidden } from "@mantine/core";
import type { UseFormReturnType } from "@mantine/form";
import { IconArrowDown, IconArrowUp, IconGripVertical, IconPlus, IconTrash } from "@tabler/icons-react";
import { useRef, useState } from "react";
import { useNames } from "../../api/names";
import { useStrings } from "../../i18n";
import { moved, newMember, type RouteValues } from "./routeModel";
import { strings } from "./strings";

// MembersEditor orders the members by dragging, and by buttons, which say where
// a member is now.
export function MembersEditor({ form }: { form: UseFormReturnType<RouteValues> }) {
  const t = useStrings(strings);
  const providers = useNames("providers");
  const { members } = form.values;
  const [dragged, setDragged] = useState<number>();
  const [over, setOver] = useState<number>();
  const [said, say] = useState("");
  const list = useRef<HTMLOListElement>(null);
  const name = (i: number) => members[i]?.provider || t.thisMember;
  const move = (from: number, to: number, focus?: "up" | "down") => {
    const next = moved(members, from, to);
    if (next === members) return;
    form.setFieldValue("members", next);
    say(t.nowAt(name(from), to + 1, members.length));
    // The button that was pressed stays under the finger of a keyboard.
    if (focus) setTimeout(() => list.current?.children[to]?.querySelector<HTMLElement>(`[data-move="${to === 0 ? "down" : to === members.length - 1 ? "up" : focus}"]`)?.focus(), 0);
  };
  const add = () => form.insertListItem("members", newMember());
  return (
    <>
      <ol className="il-rows" ref={list}>
        {members.map((m, i) => (
          <li
            key={m.id}
            className="il-row"
            data-over={over === i || undefined}
            data-dragged={dragged === i || undefined}
            onDragOver={(e) => {
              if (dragged === undefined) return;
              e.preventDefault();
              setOver(i);
            }}
            onDrop={(e) => {
              e.preventDefault();
              if (dragged !== undefined) move(dragged, i);
            }}
          >
            <span
              className="il-row-grip"
              draggable
              title={t.drag(name(i))}
              aria-hidden
              onDragStart={(e) => {
                e.dataTransfer.effectAllowed = "move";
                e.dataTransfer.setData("text/plain", m.id);
                setDragged(i);
              }}
              onDragEnd={() => {
                setDragged(undefined);
                setOver(undefined);
              }}
            >
              <IconGripVertical size={16} />
            </span>
            <span className="il-row-place" aria-label={`${t.place} ${i + 1}`}>{i + 1}</span>
            <Select
              className="il-row-who"
              size="xs"
              label={t.provider}
              data={[...new Set([...providers, ...(m.provider ? [m.provider] : [])])].filter((p) => p === m.provider || !members.some((o) => o.provider === p))}
              searchable
              {...form.getInputProps(`members.${i}.provider`)}
              value={m.provider || null}
              onChange={(p) => form.setFieldValue(`members.${i}.provider`, p ?? "")}
            />
            <NumberInput className="il-row-weight" size="xs" label={t.weight} min={0} max={1_000_000} allowDecimal={false} hideControls {...form.getInputProps(`members.${i}.weight`)} />
            <NumberInput size="xs" label={t.priority} allowDecimal={false} hideControls {...form.getInputProps(`members.${i}.priority`)} />
            <Checkbox className="il-row-rest" size="xs" mb={6} label={t.fallbackOnly} {...form.getInputProps(`members.${i}.fallbackOnly`, { type: "checkbox" })} />
            <Group className="il-row-rest" gap={2} wrap="nowrap">
              <ActionIcon variant="subtle" color="gray" data-move="up" disabled={i === 0} aria-label={t.up(name(i))} onClick={() => move(i, i - 1, "up")}><IconArrowUp size={15} aria-hidden /></ActionIcon>
              <ActionIcon variant="subtle" color="gray" data-move="down" disabled={i === members.length - 1} aria-label={t.down(name(i))} onClick={() => move(i, i + 1, "down")}><IconArrowDown size={15} aria-hidden /></ActionIcon>
              <ActionIcon variant="subtle" color="gray" aria-label={t.removeMember(name(i))} onClick={() => form.removeListItem("members", i)}><IconTrash size={15} aria-hidden /></ActionIcon>
            </Group>
          </li>
        ))}
      </ol>
      {form.errors.members ? <Text size="sm" c="var(--mantine-color-error)" role="alert">{form.errors.members}</Text> : null}
      <VisuallyHidden aria-live="polite">{said}</VisuallyHidden>
      <Group>
        <Button variant="default" size="xs" leftSection={<IconPlus size={14} aria-hidden />} onClick={add}>{t.addMember}</Button>
      </Group>
    </>
  );
}
