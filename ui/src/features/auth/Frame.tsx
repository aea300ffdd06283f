import { Box, Group, Stack, Text, Title } from "@mantine/core";
import { useEffect, type ReactNode } from "react";
import { Mark } from "../../app/Logo";
import { languages, setLanguage, useLanguage } from "../../i18n";

// Frame is the page of somebody who is not signed in.
export function Frame({ title, intro, children }: { title: string; intro?: string; children: ReactNode }) {
  const lang = useLanguage();
  useEffect(() => {
    document.title = `${title} · Interlock`;
  }, [title]);
  return (
    <Box component="main" mih="100vh" px="md" py={48} style={{ display: "grid", alignItems: "center", background: "var(--il-surface)" }}>
      <Stack maw={372} w="100%" mx="auto" gap="lg">
        <Stack align="center" gap="sm" ta="center">
          <Mark size={40} />
          <Title order={1}>{title}</Title>
          {intro ? (
            <Text c="dimmed" size="sm">
              {intro}
            </Text>
          ) : null}
        </Stack>
        <Box className="il-panel" p="lg" bg="var(--mantine-color-body)">
          {children}
        </Box>
        <Group justify="center" gap="xs">
          {languages.map((l) => (
            <button key={l.value} type="button" className="il-plain" lang={l.value} aria-pressed={lang === l.value} onClick={() => setLanguage(l.value)}>
              {l.label}
            </button>
          ))}
        </Group>
      </Stack>
    </Box>
  );
}
