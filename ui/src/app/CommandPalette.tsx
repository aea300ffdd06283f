import "@mantine/spotlight/styles.css";
import { createSpotlight, Spotlight, type SpotlightActionGroupData } from "@mantine/spotlight";
import { useMantineColorScheme } from "@mantine/core";
import { IconLanguage, IconMoon, IconPlus, IconSearch, IconSun } from "@tabler/icons-react";
import { useNavigate } from "@tanstack/react-router";
import { useEffect } from "react";
import { useCanWrite } from "../api/auth";
import { languages, setLanguage, useLanguage, useStrings } from "../i18n";
import { pages } from "./pages";
import { shell } from "./strings";

const [store, spotlight] = createSpotlight();

// CommandPalette opens whenever opened grows.
export default function CommandPalette({ opened }: { opened: number }) {
  const t = useStrings(shell);
  const lang = useLanguage();
  const navigate = useNavigate();
  const canWrite = useCanWrite();
  const { setColorScheme } = useMantineColorScheme();
  useEffect(() => spotlight.open(), [opened]);
  const go = (path: string) => () => void navigate({ to: path });
  const actions: SpotlightActionGroupData[] = [
    {
      group: t.paletteGo,
      actions: pages.filter((p) => p.path !== undefined).map((p) => ({
        id: p.id, label: p.title[lang], keywords: `${p.keywords ?? ""} ${p.title.en}`, leftSection: <p.icon size={17} stroke={1.7} />,
        rightSection: p.shortcut ? <kbd aria-hidden>g {p.shortcut}</kbd> : undefined, onClick: go(p.path!),
      })),
    },
    {
      group: t.paletteDo,
      actions: [
        ...pages.flatMap((p) => p.commands ?? []).filter((c) => canWrite || !c.admin).map((c) => ({
          id: c.path, label: c.title[lang], keywords: c.title.en, leftSection: <IconPlus size={17} stroke={1.7} />, onClick: go(c.path),
        })),
        { id: "light", label: `${t.theme}: ${t.light}`, leftSection: <IconSun size={17} stroke={1.7} />, onClick: () => setColorScheme("light") },
        { id: "dark", label: `${t.theme}: ${t.dark}`, leftSection: <IconMoon size={17} stroke={1.7} />, onClick: () => setColorScheme("dark") },
        ...languages.filter((l) => l.value !== lang).map((l) => ({
          id: l.value, label: `${t.language}: ${l.label}`, leftSection: <IconLanguage size={17} stroke={1.7} />, onClick: () => setLanguage(l.value),
        })),
      ],
    },
  ];
  return (
    <Spotlight
      attributes={{ content: { "aria-label": t.searchShort } }}
      store={store} actions={actions} shortcut={null} nothingFound={t.paletteNothing} highlightQuery scrollable maxHeight={420} size={560} radius="lg"
      searchProps={{ leftSection: <IconSearch size={17} aria-hidden />, placeholder: t.search, "aria-label": t.search }}
    />
  );
}
