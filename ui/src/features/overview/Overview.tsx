import { PageHeader } from "../../components/PageHeader";
import { useLanguage } from "../../i18n";
import page from "./page";

export default function Overview() {
  return <PageHeader title={page.title[useLanguage()]} />;
}
