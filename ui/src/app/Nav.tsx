import { Box, Stack, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { useId } from "react";
import { useLanguage, useStrings } from "../i18n";
import { groups, pages } from "./pages";
import { shell } from "./strings";

export function Nav({ onNavigate }: { onNavigate: () => void }) {
  const t = useStrings(shell);
  const lang = useLanguage();
  const id = useId();
  return (
    <Stack gap={18}>
      {groups.map((group) => {
        const shown = pages.filter((p) => p.group === group && p.path !== undefined);
        if (shown.length === 0) return null;
        return (
          <Box key={group}>
            <Text size="xs" c="dimmed" px={9} mb={4} id={`${id}-${group}`}>
              {t.group[group]}
            </Text>
            <Stack component="ul" gap={1} m={0} p={0} aria-labelledby={`${id}-${group}`} style={{ listStyle: "none" }}>
              {shown.map((page) => (
                <li key={page.id}>
                  <Link to={page.path!} className="il-navlink" onClick={onNavigate} activeOptions={{ exact: page.path === "/", includeSearch: false }} activeProps={{ "aria-current": "page" }}>
                    <page.icon size={17} stroke={1.7} />
                    {page.title[lang]}
                    {page.shortcut ? <kbd aria-hidden>g {page.shortcut}</kbd> : null}
                  </Link>
                </li>
              ))}
            </Stack>
          </Box>
        );
      })}
    </Stack>
  );
}
