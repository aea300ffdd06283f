import { AppShell, Box, Burger, Group, Text, UnstyledButton } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconSearch } from "@tabler/icons-react";
import { Outlet } from "@tanstack/react-router";
import { lazy, Suspense, useEffect, useState } from "react";
import { connect, disconnect } from "../api/events";
import { useStrings } from "../i18n";
import { LiveSign } from "./LiveSign";
import { Logo, Mark } from "./Logo";
import { Nav } from "./Nav";
import { Quiet } from "./Quiet";
import { ShortcutHelp, useShortcuts } from "./Shortcuts";
import { shell } from "./strings";
import { UserMenu } from "./UserMenu";

const CommandPalette = lazy(() => import("./CommandPalette"));

export function Shell() {
  const t = useStrings(shell);
  const [menu, { toggle, close }] = useDisclosure();
  const [palette, setPalette] = useState(0);
  const [help, { open: openHelp, close: closeHelp }] = useDisclosure();
  const openPalette = () => setPalette((n) => n + 1);
  useShortcuts({ openPalette, openHelp });
  useEffect(() => {
    connect();
    return disconnect;
  }, []);
  return (
    <AppShell layout="alt" header={{ height: 52 }} navbar={{ width: 224, breakpoint: "sm", collapsed: { mobile: !menu } }} padding={{ base: "md", sm: "xl" }}>
      <a className="il-skip" href="#content">
        {t.skip}
      </a>
      <AppShell.Header className="il-header" withBorder={false}>
        <Group h="100%" px={{ base: "md", sm: "xl" }} justify="space-between" wrap="nowrap">
          <Group gap="sm" wrap="nowrap">
            <Burger opened={menu} onClick={toggle} hiddenFrom="sm" size="sm" aria-label={t.menu} aria-expanded={menu} />
            <Box hiddenFrom="sm" h={22}>
              <Mark />
            </Box>
            <UnstyledButton className="il-search" onClick={openPalette} aria-label={`${t.search} Ctrl K`} aria-keyshortcuts="Control+K Meta+K">
              <IconSearch size={15} aria-hidden />
              <Text size="sm" component="span" visibleFrom="sm">
                {t.search}
              </Text>
              <Box component="kbd" ml="auto" visibleFrom="sm">
                Ctrl K
              </Box>
            </UnstyledButton>
          </Group>
          <Group gap="sm" wrap="nowrap">
            <LiveSign />
            <UserMenu onShortcuts={openHelp} />
          </Group>
        </Group>
      </AppShell.Header>
      <AppShell.Navbar className="il-nav" withBorder={false} p="sm" aria-label={t.main}>
        <Group h={32} px={9} mb="md" justify="space-between">
          <Logo />
          <Burger opened onClick={close} hiddenFrom="sm" size="sm" aria-label={t.menu} />
        </Group>
        <Box style={{ overflowY: "auto", flex: 1 }}>
          <Nav onNavigate={close} />
        </Box>
      </AppShell.Navbar>
      <AppShell.Main id="content" tabIndex={-1} style={{ outline: "none" }}>
        <div className="il-page">
          <Outlet />
        </div>
      </AppShell.Main>
      {palette > 0 ? (
        <Quiet>
          <Suspense>
            <CommandPalette opened={palette} />
          </Suspense>
        </Quiet>
      ) : null}
      <ShortcutHelp opened={help} onClose={closeHelp} />
    </AppShell>
  );
}
