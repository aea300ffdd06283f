import { Group, Modal, Stack, Table, Text } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { useEffect, useRef } from "react";
import { common } from "../i18n/common";
import { useLanguage, useStrings } from "../i18n";
import { pages } from "./pages";
import { shell } from "./strings";

const chordMs = 1200;

function typing(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName) || target.closest("[role=textbox],[role=dialog],[role=menu]") !== null);
}

// press does what the element does that a page marked for a shortcut.
function press(selector: string): boolean {
  const element = document.querySelector<HTMLElement>(selector);
  if (!element) return false;
  if (element instanceof HTMLInputElement) element.focus();
  else element.click();
  return true;
}

export function useShortcuts({ openPalette, openHelp }: { openPalette: () => void; openHelp: () => void }): void {
  const navigate = useNavigate();
  const newest = useRef({ openPalette, openHelp, navigate });
  useEffect(() => {
    newest.current = { openPalette, openHelp, navigate };
  });
  useEffect(() => {
    let chord = 0;
    const onKey = (e: KeyboardEvent) => {
      const { openPalette, openHelp, navigate } = newest.current;
      if ((e.ctrlKey || e.metaKey) && !e.altKey && e.key.toLowerCase() === "k") {
        e.preventDefault();
        openPalette();
        return;
      }
      if (e.ctrlKey || e.metaKey || e.altKey || e.defaultPrevented || typing(e.target)) return;
      if (Date.now() - chord < chordMs) {
        chord = 0;
        const page = pages.find((p) => p.shortcut === e.key.toLowerCase());
        if (page?.path !== undefined) {
          e.preventDefault();
          void navigate({ to: page.path });
        }
        return;
      }
      if (e.key === "g") chord = Date.now();
      else if (e.key === "?") openHelp();
      else if (e.key === "/" && press("[data-page-search]")) e.preventDefault();
      else if (e.key === "n" && press("[data-page-new]")) e.preventDefault();
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, []);
}

export function ShortcutHelp({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  const t = useStrings(shell);
  const c = useStrings(common);
  const lang = useLanguage();
  const rows: [string[], string][] = [
    [["Ctrl", "K"], t.palette],
    [["/"], t.focusSearch],
    [["n"], t.newOne],
    [["?"], t.showShortcuts],
    ...pages.filter((p) => p.shortcut).map((p): [string[], string] => [["g", p.shortcut!], t.goTo(p.title[lang])]),
  ];
  return (
    <Modal opened={opened} onClose={onClose} title={<Text fw={600}>{t.shortcuts}</Text>} closeButtonProps={{ "aria-label": c.close }}>
      <Stack>
        <Table aria-label={t.shortcuts} verticalSpacing={7}>
          <Table.Tbody>
            {rows.map(([combo, text]) => (
              <Table.Tr key={text}>
                <Table.Td>{text}</Table.Td>
                <Table.Td>
                  <Group gap={4} justify="flex-end">
                    {combo.map((k) => (
                      <kbd key={k}>{k}</kbd>
                    ))}
                  </Group>
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Stack>
    </Modal>
  );
}
