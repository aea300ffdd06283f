import { Avatar, Menu, Text, UnstyledButton, useMantineColorScheme, type MantineColorScheme } from "@mantine/core";
import { IconDeviceDesktop, IconKeyboard, IconLogout, IconMoon, IconSun } from "@tabler/icons-react";
import { useNavigate } from "@tanstack/react-router";
import { signOut, useAuth } from "../api/auth";
import { toastProblem } from "../components/toast";
import { useWord } from "../i18n/words";
import { languages, setLanguage, useLanguage, useStrings, type Language } from "../i18n";
import { shell } from "./strings";

export function UserMenu({ onShortcuts }: { onShortcuts: () => void }) {
  const t = useStrings(shell);
  const word = useWord();
  const lang = useLanguage();
  const { user, version } = useAuth();
  const navigate = useNavigate();
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const themes = [
    { value: "light", label: t.light, Icon: IconSun },
    { value: "dark", label: t.dark, Icon: IconMoon },
    { value: "auto", label: t.system, Icon: IconDeviceDesktop },
  ] as const;
  const leave = () => void signOut().then(() => navigate({ to: "/sign-in" }), toastProblem);
  // The audit's name of the actor: user:anna.
  const name = user?.name.replace(/^user:/, "") ?? "";
  return (
    <Menu width={230} position="bottom-end" shadow="md" withinPortal={false} withInitialFocusPlaceholder={false}>
      <Menu.Target>
        <UnstyledButton aria-label={t.account}>
          <Avatar size={30} radius="xl" color="pine" variant="light">
            {name.replace(/^token:/, "").slice(0, 1).toUpperCase()}
          </Avatar>
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        {user ? (
          <Menu.Label>
            <Text component="span" display="block" size="sm" fw={560} c="var(--mantine-color-text)" truncate>
              {name}
            </Text>
            {word("role", user.role)} · {word("via", user.via)}
          </Menu.Label>
        ) : null}
        <Menu.Divider />
        <Menu.Label>{t.theme}</Menu.Label>
        <Menu.RadioGroup value={colorScheme} onChange={(value) => setColorScheme(value as MantineColorScheme)}>
          {themes.map(({ value, label, Icon }) => (
            <Menu.RadioItem key={value} value={value} rightSection={<Icon size={15} aria-hidden />}>
              {label}
            </Menu.RadioItem>
          ))}
        </Menu.RadioGroup>
        <Menu.Label>{t.language}</Menu.Label>
        <Menu.RadioGroup value={lang} onChange={(value) => setLanguage(value as Language)}>
          {languages.map(({ value, label }) => (
            <Menu.RadioItem key={value} value={value} lang={value}>
              {label}
            </Menu.RadioItem>
          ))}
        </Menu.RadioGroup>
        <Menu.Divider />
        <Menu.Item leftSection={<IconKeyboard size={15} aria-hidden />} rightSection={<kbd aria-hidden>?</kbd>} onClick={onShortcuts}>
          {t.shortcuts}
        </Menu.Item>
        {user?.via === "token" ? null : (
          <Menu.Item leftSection={<IconLogout size={15} aria-hidden />} onClick={leave}>
            {t.signOut}
          </Menu.Item>
        )}
        <Menu.Label>{t.version(version)}</Menu.Label>
      </Menu.Dropdown>
    </Menu>
  );
}
