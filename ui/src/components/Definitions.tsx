import type { ReactNode } from "react";

// More facts than this stand in two columns where there is room.
const many = 8;

// Definitions lists facts of one object. Empty ones are left out.
export function Definitions({ items }: { items: [string, ReactNode][] }) {
  const known = items.filter(([, value]) => value !== undefined && value !== null && value !== "");
  return (
    <dl className="il-dl" data-many={known.length >= many || undefined}>
      {known.map(([term, value]) => (
        <div key={term}>
          <dt>{term}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
