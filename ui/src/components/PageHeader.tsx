import { Anchor, Box, Group, Text, Title } from "@mantine/core";
import { useEffect, useRef, type ReactNode } from "react";
import { Link } from "@tanstack/react-router";
import { takeNavigation } from "../app/navigation";

type Props = {
  title: ReactNode;
  // For the tab of the browser, if title is not a string.
  documentTitle?: string;
  intro?: ReactNode;
  actions?: ReactNode;
  back?: { to: string; label: string };
};

// PageHeader names the page. After a navigation it takes the focus, so that
// keyboards and screen readers begin at the new page.
export function PageHeader({ title, documentTitle, intro, actions, back }: Props) {
  const heading = useRef<HTMLHeadingElement>(null);
  const name = documentTitle ?? (typeof title === "string" ? title : "");
  useEffect(() => {
    if (name) document.title = `${name} · Interlock`;
  }, [name]);
  useEffect(() => {
    if (takeNavigation()) heading.current?.focus({ preventScroll: true });
  }, []);
  return (
    <Box component="header" mb="lg">
      {back ? (
        <Anchor component={Link} to={back.to} size="xs" c="dimmed" display="inline-block" mb={6}>
          ← {back.label}
        </Anchor>
      ) : null}
      <Group justify="space-between" align="flex-start" gap="md">
        <Box style={{ flex: "1 1 280px", minWidth: 0 }}>
          <Title order={1} ref={heading} tabIndex={-1} style={{ overflowWrap: "anywhere" }}>
            {title}
          </Title>
          {intro ? (
            <Text c="dimmed" size="sm" mt={3} maw={680}>
              {intro}
            </Text>
          ) : null}
        </Box>
        {actions ? <Group gap="xs" className="il-actions">{actions}</Group> : null}
      </Group>
    </Box>
  );
}
