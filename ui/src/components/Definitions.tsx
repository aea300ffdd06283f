import { Fragment, type ReactNode } from "react";

// Definitions lists facts of one object. Empty ones are left out.
export function Definitions({ items }: { items: [string, ReactNode][] }) {
  return (
    <dl className="il-dl">
      {items
        .filter(([, value]) => value !== undefined && value !== null && value !== "")
        .map(([term, value]) => (
          <Fragment key={term}>
            <dt>{term}</dt>
            <dd>{value}</dd>
          </Fragment>
        ))}
    </dl>
  );
}
