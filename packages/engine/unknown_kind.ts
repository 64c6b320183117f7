import { withCode } from "@workqueue/core/internal";

/**
 * Returns the entry of a table for a kind that another process may have sent or stored.
 *
 * @param what The noun for a kind, such as `"limiter"`.
 * @throws {TypeError} If the table has no entry for the kind.
 */
export function entryOf<Table extends object>(
  table: Table,
  product: string,
  what: string,
  kind: keyof Table & string,
): Table[keyof Table] {
  if (Object.hasOwn(table, kind)) return table[kind];
  throw unknownKind(product, what, kind as never);
}

/**
 * Returns the error for a kind that an engine doesn't know. The type of `kind` makes a `switch` without a case for each
 * kind a type error.
 *
 * @param what The noun for a kind, such as `"limiter"`.
 */
export function unknownKind(product: string, what: string, kind: never): Error {
  return withCode("WQ_ARGUMENT", new TypeError(`${product} doesn't know the ${what} ${JSON.stringify(kind)}`));
}
