import { Button, Collapse, NumberInput, SimpleGrid, Switch, TextInput } from "@mantine/core";
import type { UseFormReturnType } from "@mantine/form";
import { useDisclosure } from "@mantine/hooks";
import { IconChevronDown, IconChevronRight } from "@tabler/icons-react";
import { useEffect } from "react";
import { FormSection } from "../../components/FormSection";
import { MapField } from "../../components/MapField";
import { useStrings } from "../../i18n";
import { plain } from "./ProviderFields";
import { timeNames, type ProviderValues } from "./providerModel";
import { strings } from "./strings";

const mine = /^(timeouts|headers|contextWindows|proxyUrl|caFile|http2|allowInsecure|openai)/;

export function MoreFields({ form }: { form: UseFormReturnType<ProviderValues> }) {
  const t = useStrings(strings);
  const [open, { toggle, open: show }] = useDisclosure(false);
  const refused = Object.keys(form.errors).some((path) => mine.test(path));
  useEffect(() => {
    if (refused) show();
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [refused]);
  const Icon = open ? IconChevronDown : IconChevronRight;
  return (
    <>
      <Button variant="subtle" color="gray" mt="xs" ml={-12} aria-expanded={open} leftSection={<Icon size={15} aria-hidden />} onClick={toggle}>
        {t.more}
      </Button>
      <Collapse expanded={open}>
        <FormSection title={t.timeouts} text={t.timeoutsText}>
          <SimpleGrid cols={{ base: 1, xs: 2 }}>
            {timeNames.map((n) => (
              <NumberInput key={n} size="sm" label={t[n]} min={0} hideControls allowDecimal={false} suffix=" ms" thousandSeparator=" " {...form.getInputProps(`timeouts.${n}`)} />
            ))}
          </SimpleGrid>
        </FormSection>
        <FormSection title={t.advanced}>
          <TextInput label={t.proxyUrl} placeholder="http://proxy:3128" {...form.getInputProps("proxyUrl")} />
          <TextInput label={t.caFile} placeholder="/etc/ssl/…" {...form.getInputProps("caFile")} />
          <Switch role="switch" label={t.http2} {...form.getInputProps("http2", { type: "checkbox" })} />
          <Switch role="switch" label={t.allowInsecure} description={t.allowInsecureHint} {...form.getInputProps("allowInsecure", { type: "checkbox" })} />
          <MapField label={t.headers} description={t.headersHint} keyLabel={t.headerName} valueLabel={t.headerValue} addLabel={t.addRow} removeLabel={t.removeRow} {...plain(form, "headers")} />
          <MapField number label={t.windows} description={t.windowsHint} keyLabel={t.windowModel} valueLabel={t.windowTokens} addLabel={t.addRow} removeLabel={t.removeRow} {...plain(form, "contextWindows")} />
          {form.values.type === "openai" ? (
            <>
              <TextInput label={t.organization} {...form.getInputProps("openai.organization")} />
              <TextInput label={t.project} {...form.getInputProps("openai.project")} />
            </>
          ) : null}
        </FormSection>
      </Collapse>
    </>
  );
}
