import { Box, Group, Stack, Text, ThemeIcon, Title } from "@mantine/core";
import type { ComponentType, ReactNode } from "react";

type Props = {
  icon: ComponentType<{ size?: number; stroke?: number }>;
  title: string;
  // What it is for, and what the next step is.
  text: ReactNode;
  actions?: ReactNode;
};

export function EmptyState({ icon: Icon, title, text, actions }: Props) {
  return (
    <Box py={56} px="md">
      <Stack align="center" gap="xs" maw={460} mx="auto" ta="center">
        <ThemeIcon size={44} radius="lg" variant="light" color="gray" aria-hidden>
          <Icon size={22} stroke={1.6} />
        </ThemeIcon>
        <Title order={2} mt="xs">
          {title}
        </Title>
        <Text c="dimmed" size="sm" component="div">
          {text}
        </Text>
        {actions ? (
          <Group gap="xs" mt="xs" justify="center">
            {actions}
          </Group>
        ) : null}
      </Stack>
    </Box>
  );
}
