import { Box, Stack, Text, TextInput, Title } from "@mantine/core";
import { IconSearch } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { PageHeader } from "../../components/PageHeader";
import { useLanguage, useStrings } from "../../i18n";
import { strings } from "./strings";
import { later, vendors, type Vendor } from "./vendors";
import { VendorMark } from "./VendorMark";

const groups = ["vendors", "hubs", "own"] as const;

export default function Gallery() {
  const t = useStrings(strings);
  const lang = useLanguage();
  const [q, setQ] = useState("");
  const found = (v: Vendor) => `${v.id} ${v.title} ${v.text[lang]}`.toLowerCase().includes(q.trim().toLowerCase());
  const shown = vendors.filter(found);
  return (
    <>
      <PageHeader title={t.galleryTitle} intro={t.galleryIntro} back={{ to: "/providers", label: t.title }} />
      <Stack gap="xl">
        <TextInput type="search" size="xs" w={260} aria-label={t.gallerySearch} placeholder={t.gallerySearch} data-page-search leftSection={<IconSearch size={14} aria-hidden />} value={q} onChange={(e) => setQ(e.currentTarget.value)} />
        {shown.length === 0 ? (
          <Text size="sm" c="dimmed" role="status">
            {t.galleryNothing}
          </Text>
        ) : null}
        {groups.map((group) => {
          const tiles = shown.filter((v) => v.group === group);
          if (tiles.length === 0) return null;
          return (
            <Box component="section" key={group} aria-label={t.groups[group]}>
              <Title order={2} mb="sm">
                {t.groups[group]}
              </Title>
              <ul className="il-gallery">
                {tiles.map((v) => (
                  <li key={v.id}>
                    <Link to={`/providers/new/${v.id}`} className="il-tile">
                      <VendorMark vendor={v} size={34} />
                      <Box miw={0}>
                        <Text size="sm" fw={560}>
                          {v.title}
                        </Text>
                        <Text size="xs" c="dimmed">
                          {v.text[lang]}
                        </Text>
                      </Box>
                    </Link>
                  </li>
                ))}
              </ul>
            </Box>
          );
        })}
        <Text size="xs" c="dimmed">
          {t.later(later.join(", "))}
        </Text>
      </Stack>
    </>
  );
}
