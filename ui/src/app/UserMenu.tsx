import { Avatar, Menu, Text, UnstyledButton, useMantineColorScheme } from "@mantine/core";
import { IconCheck, IconDeviceDesktop, IconKeyboard, IconLogout, IconMoon, IconSun } from "@tabler/icons-react";
import { useNavigate } from "@tanstack/react-router";
import { signOut, useAuth } from "../api/auth";
import { toastProblem } from "../components/toast";
import { languages, setLanguage, useLanguage, useStrings } from "../i18n";
import { shell } from "./strings";

export function UserMenu({ onShortcuts }: { onShortcuts: () => void }) {
  const t = useStrings(shell);
  const lang = useLanguage();
  const { user, version } = useAuth();
  const navigate = useNavigate();
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const themes = [
    { value: "light", label: t.light, Icon: IconSun },
    { value: "dark", label: t.dark, Icon: IconMoon },
    { value: "auto", label: t.system, Icon: IconDeviceDesktop },
  ] as const;
  const tick = (on: boolean) => (on ? <IconCheck size={14} aria-hidden /> : null);
  const leave = () => void signOut().then(() => navigate({ to: "/sign-in" }), toastProblem);
  const initial = (user?.name.replace(/^(user|token):/, "") ?? "?").slice(0, 1).toUpperCase();
  return (
    <Menu width={230} position="bottom-end" shadow="md">
      <Menu.Target>
        <UnstyledButton aria-label={t.account}>
          <Avatar size={30} radius="xl" color="pine" variant="light">
            {initial}
          </Avatar>
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        {user ? (
          <Menu.Label component="div">
            <Text size="sm" fw={560} c="var(--mantine-color-text)" truncate>
              {user.name}
            </Text>
            {t.role[user.role]} · {t.via[user.via]}
          </Menu.Label>
        ) : null}
        <Menu.Divider />
        <Menu.Label>{t.theme}</Menu.Label>
        {themes.map(({ value, label, Icon }) => (
          <Menu.Item key={value} role="menuitemradio" aria-checked={colorScheme === value} closeMenuOnClick={false} leftSection={<Icon size={15} aria-hidden />} rightSection={tick(colorScheme === value)} onClick={() => setColorScheme(value)}>
            {label}
          </Menu.Item>
        ))}
        <Menu.Label>{t.language}</Menu.Label>
        {languages.map(({ value, label }) => (
          <Menu.Item key={value} role="menuitemradio" aria-checked={lang === value} lang={value} rightSection={tick(lang === value)} onClick={() => setLanguage(value)}>
            {label}
          </Menu.Item>
        ))}
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
