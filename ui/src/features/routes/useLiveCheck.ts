import { useDebouncedValue } from "@mantine/hooks";
import { useEffect, useRef, useState } from "react";
import { asProblem, fieldErrors } from "../../api/problem";
import type { FieldsProps } from "../../objects/form";
import type { Route, RouteValues } from "./routeModel";

// What is not filled in yet is no mistake: while typing only these are checked.
const checked = /^(modelPatterns|name|aliases\.\d+\.name|members\.\d+\.weight|strategy)/;

// useLiveCheck asks the server, shortly after typing stops, whether the route
// would be accepted, and says what is wrong at its field.
export function useLiveCheck({ form, has, check }: FieldsProps<Route, RouteValues>): "idle" | "busy" | "clear" {
  const [state, setState] = useState<"idle" | "busy" | "clear">("idle");
  const [settled] = useDebouncedValue(JSON.stringify(form.values), 350);
  const first = useRef(settled);
  const newest = useRef(0);
  useEffect(() => {
    const values = JSON.parse(settled) as RouteValues;
    if (settled === first.current || values.modelPatterns.length === 0 || values.name === "") {
      setState("idle");
      return;
    }
    const mine = ++newest.current;
    setState("busy");
    check(values).then(
      () => {
        if (mine !== newest.current) return;
        for (const path of Object.keys(form.errors)) if (checked.test(path)) form.clearFieldError(path);
        setState("clear");
      },
      (error: unknown) => {
        if (mine !== newest.current) return;
        const problem = asProblem(error);
        const { byField } = fieldErrors(problem, has);
        const now = Object.fromEntries(Object.entries(byField).filter(([path]) => checked.test(path)));
        for (const path of Object.keys(form.errors)) if (checked.test(path) && !(path in now)) form.clearFieldError(path);
        for (const [path, message] of Object.entries(now)) form.setFieldError(path, message);
        setState("idle");
      },
    );
    // The form and what was loaded are the same for as long as the page is shown.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [settled]);
  return state;
}
