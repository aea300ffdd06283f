import { useQuery } from "@tanstack/react-query";
import { pages } from "../app/pages";
import { useLanguage } from "../i18n";

const none = {};

// useLabels are the names of fields by kind, from the pages that have them. They
// come with those pages' texts, so only where they are wanted.
export function useLabels(enabled: boolean): (kind: string) => Record<string, string> {
  const language = useLanguage();
  const { data } = useQuery({
    queryKey: ["labels"],
    enabled,
    staleTime: Infinity,
    queryFn: async () => new Map(await Promise.all(pages.flatMap((p) => (p.kind && p.labels ? [p.labels().then((texts) => [p.kind!, texts] as const)] : [])))),
  });
  return (kind) => data?.get(kind)?.[language].fields ?? none;
}
