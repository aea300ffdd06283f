import { Alert, Button, Divider, PasswordInput, Stack, Text, TextInput } from "@mantine/core";
import { useNavigate, useRouter, useSearch } from "@tanstack/react-router";
import { useState, type FormEvent } from "react";
import { oidcStart, signIn, useAuth } from "../../api/auth";
import { asProblem } from "../../api/problem";
import { common } from "../../i18n/common";
import { useStrings } from "../../i18n";
import { Frame } from "./Frame";
import { strings } from "./strings";

// inside is a path of the console, whatever the address of the page says.
function inside(path: string | undefined): string {
  return path && /^\/(?![/\\])/.test(path) ? path : "/";
}

export default function SignIn() {
  const t = useStrings(strings);
  const c = useStrings(common);
  const auth = useAuth();
  const router = useRouter();
  const navigate = useNavigate();
  const search = useSearch({ strict: false }) as { returnTo?: string; error?: string };
  const returnTo = inside(search.returnTo);
  const [name, setName] = useState("");
  const [password, setPassword] = useState("");
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState(search.error ? (t.error[search.error] ?? t.error.failed!) : "");
  const submit = async (e: FormEvent) => {
    e.preventDefault();
    setBusy(true);
    setFailure("");
    try {
      await signIn(name, password);
      await router.invalidate();
      await navigate({ href: returnTo, replace: true });
    } catch (error) {
      const p = asProblem(error);
      setFailure(p.status === 401 ? t.wrong : p.status === 403 && p.code === "no_role" ? t.noRole : p.status === 429 ? t.tooMany(p.retryAfter ?? 60) : p.code === "unreachable" ? c.unreachable : p.detail);
      setBusy(false);
    }
  };
  return (
    <Frame title={t.title}>
      <Stack gap="md">
        {failure ? (
          <Alert color="red" role="alert" p="sm">
            {failure}
          </Alert>
        ) : null}
        {auth.oidc.enabled ? (
          <Button component="a" href={oidcStart(`/console${returnTo}`)} variant={auth.passwordSignIn ? "default" : "filled"} fullWidth>
            {t.with(auth.oidc.name)}
          </Button>
        ) : null}
        {auth.oidc.enabled && auth.passwordSignIn ? <Divider label={t.or} /> : null}
        {auth.passwordSignIn ? (
          <form onSubmit={(e) => void submit(e)}>
            <Stack gap="sm">
              <TextInput label={t.user} value={name} onChange={(e) => setName(e.currentTarget.value)} autoComplete="username" required withAsterisk={false} autoFocus />
              <PasswordInput label={t.password} value={password} onChange={(e) => setPassword(e.currentTarget.value)} autoComplete="current-password" required withAsterisk={false} />
              <Button type="submit" loading={busy} fullWidth mt="xs">
                {t.signIn}
              </Button>
            </Stack>
          </form>
        ) : null}
        {!auth.oidc.enabled && !auth.passwordSignIn ? <Text size="sm">{t.noWay}</Text> : null}
      </Stack>
    </Frame>
  );
}
