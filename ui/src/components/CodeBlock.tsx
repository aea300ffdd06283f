import { CopyButton } from "./CopyButton";

// CodeBlock shows text to run or to paste, with a button that copies it. shown
// differs from code where a secret is masked.
export function CodeBlock({ code, shown, label }: { code: string; shown?: string; label: string }) {
  return (
    <div className="il-code">
      <pre tabIndex={0} role="region" aria-label={label}>
        <code>{shown ?? code}</code>
      </pre>
      <div className="il-code-copy">
        <CopyButton value={code} what={label} />
      </div>
    </div>
  );
}
