import { pages } from "../app/pages";
import { useLanguage } from "../i18n";

// useListLink leads back to the list that an object is in.
export function useListLink({ path }: { path: string }): { to: string; label: string } {
  const language = useLanguage();
  return { to: path, label: pages.find((p) => p.path === path)?.title[language] ?? path };
}
