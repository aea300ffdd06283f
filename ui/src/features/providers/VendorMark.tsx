import { vendorOf, type Vendor } from "./vendors";
import type { Provider } from "./providerModel";

// VendorMark is a letter in place of a logo that would be somebody's trademark.
export function VendorMark({ vendor, provider, size = 28 }: { vendor?: Vendor; provider?: Pick<Provider, "type" | "vendor">; size?: number }) {
  const title = (vendor ?? (provider ? vendorOf(provider) : undefined))?.title ?? provider?.type ?? "?";
  return (
    <span className="il-mark" aria-hidden style={{ width: size, height: size, fontSize: size * 0.42 }}>
      {title.slice(0, title === "OpenAI-compatible" ? 0 : 1) || "*"}
    </span>
  );
}
