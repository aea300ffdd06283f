import "@mantine/spotlight/styles.css";
import { createSpotlight, Spotlight, type SpotlightActionGroupData } from "@mantine/spotlight";
import { useMantineColorScheme } from "@mantine/core";
import { IconLanguage, IconMoon, IconPlus, IconSearch, IconSun } from "@tabler/icons-react";
import { useNavigate } from "@tanstack/react-router";
import { useDebouncedValue } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { useCanWrite } from "../api/auth";
import { keys } from "../api/query";
import { languages, setLanguage, useLanguage, useStrings } from "../i18n";
import { pages, type Found, type PageDef } from "./pages";
import { shell } from "./strings";

const [store, spotlight] = createSpotlight();

// selectFirst does what Mantine does after a key, which it does not export.
function selectFirst(): void {
  const { listId } = store.getState();
  if (!listId) return; // it is closed
  const actions = document.querySelectorAll(`#${CSS.escape(listId)} [data-action]`);
  actions.forEach((a, i) => (i === 0 ? a.setAttribute("data-selected", "true") : a.removeAttribute("data-selected")));
  store.updateState((state) => ({ ...state, selected: actions.length > 0 ? 0 : -1 }));
}

// findAll asks the pages for their objects; one that fails is left out.
async function findAll(q: string): Promise<(Found & { page: PageDef })[]> {
  const lists = await Promise.allSettled(pages.map(async (page) => ((await page.find?.(q)) ?? []).map((f) => ({ ...f, page }))));
  return lists.flatMap((l) => (l.status === "fulfilled" ? l.value : []));
}

// CommandPalette opens whenever opened grows.
export default function CommandPalette({ opened }: { opened: number }) {
  const t = useStrings(shell);
  const lang = useLanguage();
  const navigate = useNavigate();
  const canWrite = useCanWrite();
  const { setColorScheme } = useMantineColorScheme();
  useEffect(() => spotlight.open(), [opened]);
  const go = (path: string) => () => void navigate({ to: path });
  const [query, setQuery] = useState("");
  const [settled] = useDebouncedValue(query.trim(), 180);
  const found = useQuery({ queryKey: keys.list("palette", { settled }), enabled: settled.length > 1, queryFn: () => findAll(settled), placeholderData: (before) => before });
  // Enter goes to the first one, also to one that came a moment later.
  useEffect(() => {
    if (settled.length > 1) selectFirst();
  }, [found.data, settled]);
  const objects: SpotlightActionGroupData = {
    group: t.paletteObjects,
    actions: (settled.length > 1 ? (found.data ?? []) : []).map(({ label, path, page }) => ({
      id: path, label, description: page.title[lang], keywords: settled, leftSection: <page.icon size={17} stroke={1.7} />, onClick: go(path),
    })),
  };
  const actions: SpotlightActionGroupData[] = [
    ...(objects.actions.length > 0 ? [objects] : []),
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
        ...pages.flatMap((p) => (p.commands ?? []).map((c) => ({ ...c, Icon: c.admin ? IconPlus : p.icon }))).filter((c) => canWrite || !c.admin).map((c) => ({
          id: c.path, label: c.title[lang], keywords: c.title.en, leftSection: <c.Icon size={17} stroke={1.7} />, onClick: go(c.path),
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
      store={store} actions={actions} query={query} onQueryChange={setQuery} shortcut={null} nothingFound={t.paletteNothing} highlightQuery scrollable maxHeight={440} overlayProps={{ backgroundOpacity: 0.35, blur: 1 }} yOffset="12vh" size={560} radius="lg"
      searchProps={{ leftSection: <IconSearch size={17} aria-hidden />, placeholder: t.search, "aria-label": t.search }}
    />
  );
}
