import { Box, Stack, Text, Title } from "@mantine/core";
import type { ReactNode } from "react";

// FormSection is a group of fields with its name beside it (above it on a
// phone).
export function FormSection({ title, text, wide, children }: { title: string; text?: ReactNode; wide?: boolean; children: ReactNode }) {
  return (
    <Box component="section" className="il-section" data-wide={wide || undefined} aria-label={title}>
      <Box>
        <Title order={2}>{title}</Title>
        {text ? (
          <Text size="xs" c="dimmed" mt={3} component="div">
            {text}
          </Text>
        ) : null}
      </Box>
      <Stack gap="md">{children}</Stack>
    </Box>
  );
}
