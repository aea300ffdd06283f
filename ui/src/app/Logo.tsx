import { Group, Text } from "@mantine/core";

export function Mark({ size = 22 }: { size?: number }) {
  return (
    <svg width={size} height={size} viewBox="0 0 32 32" aria-hidden>
      <rect width="32" height="32" rx="8" fill="#167461" />
      <path d="M8 10h5.5a6 6 0 0 1 6 6 6 6 0 0 0 6 6M8 22h5.5a6 6 0 0 0 6-6 6 6 0 0 1 6-6" fill="none" stroke="#fff" strokeWidth="2.6" strokeLinecap="round" />
    </svg>
  );
}

export function Logo() {
  return (
    <Group gap={9} wrap="nowrap">
      <Mark />
      <Text fw={640} size="md" lts="-0.02em">
        Interlock
      </Text>
    </Group>
  );
}
