import { Alert, Anchor, Button, PasswordInput, Stack, Text, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { Link, useNavigate, useRouter } from "@tanstack/react-router";
import { useState } from "react";
import { setUp, useAuth } from "../../api/auth";
import { asProblem, fieldErrors } from "../../api/problem";
import { common } from "../../i18n/common";
import { useStrings } from "../../i18n";
import { Frame } from "./Frame";
import { strings } from "./strings";

// tokenOfLink is behind the #, so that no server and no log sees it. It is
// taken out of the address, so that the history does not keep it either.
function tokenOfLink(): string {
  const token = new URLSearchParams(window.location.hash.slice(1)).get("token") ?? "";
  if (token) window.history.replaceState(window.history.state, "", window.location.pathname);
  return token;
}

// React runs the first render twice while developing.
let taken = "";

export default function SetUp() {
  const t = useStrings(strings);
  const c = useStrings(common);
  const auth = useAuth();
  const router = useRouter();
  const navigate = useNavigate();
  const [token] = useState(() => (taken ||= tokenOfLink()));
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState("");
  const form = useForm({
    initialValues: { name: "admin", password: "", repeat: "" },
    validate: {
      repeat: (v, all) => (v === all.password ? null : t.differ),
    },
  });
  const submit = form.onSubmit(async ({ name, password }) => {
    setBusy(true);
    setFailure("");
    try {
      await setUp(token, name, password);
      await router.invalidate();
      await navigate({ to: "/", replace: true });
    } catch (error) {
      const p = asProblem(error);
      const { byField } = fieldErrors(p, (path) => path in form.values);
      form.setErrors(byField);
      if (Object.keys(byField).length === 0) setFailure(p.status === 401 ? t.wrongToken : p.status === 409 ? t.alreadySetUp : p.code === "unreachable" ? c.unreachable : p.detail);
      setBusy(false);
    }
  });
  if (!auth.setupRequired) {
    return (
      <Frame title={t.setupTitle}>
        <Stack gap="sm">
          <Text size="sm">{t.alreadySetUp}</Text>
          <Anchor component={Link} to="/sign-in" size="sm">
            {t.toSignIn}
          </Anchor>
        </Stack>
      </Frame>
    );
  }
  if (token === "") {
    return (
      <Frame title={t.setupTitle}>
        <Stack gap="sm">
          <Text size="sm">{t.noToken}</Text>
          <Text size="xs" c="dimmed">
            {t.noTokenHint}
          </Text>
          <Text size="xs" className="mono" style={{ overflowWrap: "anywhere" }}>
            {window.location.origin}/console/setup#token=…
          </Text>
        </Stack>
      </Frame>
    );
  }
  return (
    <Frame title={t.setupTitle} intro={t.setupIntro}>
      <form onSubmit={submit}>
        <Stack gap="sm">
          {failure ? (
            <Alert color="red" role="alert" p="sm">
              {failure}
            </Alert>
          ) : null}
          <TextInput label={t.user} autoComplete="username" required withAsterisk={false} {...form.getInputProps("name")} />
          <PasswordInput label={t.password} description={t.passwordHint} autoComplete="new-password" required withAsterisk={false} autoFocus {...form.getInputProps("password")} />
          <PasswordInput label={t.repeat} autoComplete="new-password" required withAsterisk={false} {...form.getInputProps("repeat")} />
          <Button type="submit" loading={busy} fullWidth mt="xs">
            {t.setUp}
          </Button>
        </Stack>
      </form>
    </Frame>
  );
}
