import type { UseFormReturnType } from "@mantine/form";
import type { Collection, Named } from "./collection";

// ObjectFormDef is how objects of a kind become values of a form, and back.
export type ObjectFormDef<T extends Named, I, V> = {
  of: Collection<T, I>;
  values: (object?: T) => V;
  // input lays the values over what the server has, so that what the form does
  // not know stays.
  input: (values: V, before?: T) => I;
  // Paths that the form shows with something that is no input.
  shows?: RegExp;
};

export function defineForm<T extends Named, I, V extends { name: string }>(def: ObjectFormDef<T, I, V>): ObjectFormDef<T, I, V> {
  return def;
}

// FieldsProps is what the fields of a kind get from the frame.
export type FieldsProps<T, V> = {
  form: UseFormReturnType<V>;
  // The object as it was loaded; nothing for a new one.
  before?: T;
  has: (path: string) => boolean;
  // Asks the server whether it would accept values.
  check: (values: V) => Promise<unknown>;
};
