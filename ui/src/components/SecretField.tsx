import { Box, Button, Group, Input, PasswordInput, Text } from "@mantine/core";
import { useId, useState } from "react";
import { common } from "../i18n/common";
import { useStrings } from "../i18n";

// undefined: untouched, and so not sent; null: remove; text: the new secret.
export type SecretValue = string | null | undefined;

type Props = {
  label: string;
  description?: string;
  value: SecretValue;
  onChange: (value: SecretValue) => void;
  stored: boolean;
  last4?: string;
  error?: string;
  required?: boolean;
  placeholder?: string;
};

// SecretField is write-only: it shows if there is a secret, never which.
export function SecretField({ label, description, value, onChange, stored, last4, error, required, placeholder }: Props) {
  const t = useStrings(common);
  const id = useId();
  const [editing, setEditing] = useState(false);
  const input = value !== null && (!stored || editing || value !== undefined);
  const keep = () => {
    setEditing(false);
    onChange(undefined);
  };
  if (input) {
    return (
      <Box>
        <PasswordInput
          id={id}
          label={label}
          description={description ?? t.secretHint}
          value={value ?? ""}
          error={error}
          required={required && !stored}
          placeholder={placeholder}
          autoComplete="off"
          data-1p-ignore
          autoFocus={editing}
          styles={{ innerInput: { fontFamily: "var(--mantine-font-family-monospace)" } }}
          onChange={(e) => onChange(e.currentTarget.value === "" ? undefined : e.currentTarget.value)}
        />
        {stored ? (
          <Button variant="subtle" size="compact-xs" mt={4} onClick={keep}>
            {t.secretKeep}
          </Button>
        ) : null}
      </Box>
    );
  }
  return (
    <Input.Wrapper label={label} labelElement="div" description={description} error={error}>
      <Group gap="xs" mt={4} role="group" aria-label={label}>
        <Text size="sm" className="mono" c={value === null ? "var(--mantine-color-error)" : undefined}>
          {value === null ? t.secretWillGo : `•••• ${t.secretStored(last4)}`}
        </Text>
        {value === null ? (
          <Button variant="default" size="compact-xs" onClick={keep}>
            {t.secretKeep}
          </Button>
        ) : (
          <>
            <Button variant="default" size="compact-xs" onClick={() => setEditing(true)}>
              {t.secretReplace}
            </Button>
            {required ? null : (
              <Button variant="subtle" color="red" size="compact-xs" onClick={() => onChange(null)}>
                {t.secretRemove}
              </Button>
            )}
          </>
        )}
      </Group>
    </Input.Wrapper>
  );
}
