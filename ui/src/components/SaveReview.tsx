import { Alert, Button, Group, Modal, Stack, Text } from "@mantine/core";
import type { UseFormReturnType } from "@mantine/form";
import { useState } from "react";
import { asChangeSet, type ChangeSet } from "../api/client";
import { asProblem, fieldErrors, type Problem } from "../api/problem";
import { common } from "../i18n/common";
import { useStrings } from "../i18n";
import { ChangeList } from "./ChangeList";

type Options = {
  // The same write twice: checked only, and for good.
  dryRun: () => Promise<unknown>;
  save: () => Promise<void>;
  // The fields that the form shows: problems of others are said above it.
  has: (path: string) => boolean;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  form: UseFormReturnType<any, any>;
  labels?: Record<string, string>;
};

export type Review = {
  start: () => Promise<void>;
  busy: boolean;
  changes?: ChangeSet;
  problem?: Problem;
  confirm: () => Promise<void>;
  close: () => void;
  labels?: Record<string, string>;
};

// useSaveReview asks the server what a save would change before it saves. What
// the server refuses is at its field, and the first such field has the focus.
export function useSaveReview({ dryRun, save, has, form, labels }: Options): Review {
  const [busy, setBusy] = useState(false);
  const [changes, setChanges] = useState<ChangeSet>();
  const [problem, setProblem] = useState<Problem>();
  const attempt = async (work: () => Promise<void>) => {
    setBusy(true);
    setProblem(undefined);
    form.clearErrors();
    try {
      await work();
    } catch (error) {
      const refused = asProblem(error);
      const { byField, rest } = fieldErrors(refused, has);
      setChanges(undefined);
      form.setErrors(byField);
      const first = Object.keys(byField)[0];
      if (first) setTimeout(() => form.getInputNode(first)?.focus(), 60);
      if (!first || rest.length > 0) setProblem(refused);
    } finally {
      setBusy(false);
    }
  };
  return {
    busy,
    changes,
    problem,
    labels,
    start: () => attempt(async () => setChanges(asChangeSet(await dryRun()))),
    confirm: () =>
      attempt(async () => {
        await save();
        setChanges(undefined);
      }),
    close: () => setChanges(undefined),
  };
}

export function SaveReview({ review, action }: { review: Review; action?: string }) {
  const t = useStrings(common);
  const { changes } = review;
  const nothing = changes?.changes.length === 0;
  return (
    <Modal opened={changes !== undefined} onClose={review.close} size="lg" title={<Text fw={600}>{t.reviewTitle}</Text>} closeButtonProps={{ "aria-label": t.close }}>
      {changes ? (
        <Stack gap="md">
          <ChangeList changes={changes} labels={review.labels} />
          <Group justify="flex-end" gap="xs">
            <Button variant="default" onClick={review.close}>
              {nothing ? t.close : t.back}
            </Button>
            {nothing ? null : (
              <Button data-autofocus loading={review.busy} onClick={() => void review.confirm()}>
                {action ?? t.save}
              </Button>
            )}
          </Group>
        </Stack>
      ) : null}
    </Modal>
  );
}

// FormProblem is what the server refused and belongs to no field.
export function FormProblem({ problem, reload }: { problem?: Problem; reload?: () => void }) {
  const t = useStrings(common);
  if (!problem) return null;
  const stale = problem.status === 412;
  return (
    <Alert color="red" role="alert">
      <Stack gap={6} align="flex-start">
        <Text size="sm">{stale ? t.stale : problem.code === "unreachable" ? t.unreachable : problem.detail}</Text>
        {stale && reload ? (
          <Button variant="default" onClick={reload}>
            {t.staleReload}
          </Button>
        ) : null}
      </Stack>
    </Alert>
  );
}
