/**
 * Lua for values that are one of several kinds. A table with Lua for each kind is a `Record`, so a kind without Lua is
 * a type error.
 *
 * @module
 */

/** Returns Lua that runs the code for the kind in a variable. The caller adds `else` and `end`. */
export function chain(variable: string, codes: Readonly<Record<string, string>>): string {
  return Object.entries(codes).map(([kind, lua]) => `if ${variable} == '${kind}' then ${lua}`).join("\n      else");
}

/** Returns a Lua expression for whether a variable has one of several values. */
export function isOneOf(variable: string, values: readonly string[]): string {
  return values.map((value) => `${variable} == '${value}'`).join(" or ") || "false";
}

/** Returns the kinds whose entry fulfills a condition. */
export function kindsOf<T>(table: Readonly<Record<string, T>>, condition: (entry: T) => boolean): string[] {
  return Object.entries(table).filter(([, entry]) => condition(entry)).map(([kind]) => kind);
}

/** Returns a table with the results of a function for each entry. */
export function mapOf<Kind extends string, T, R>(
  table: Readonly<Record<Kind, T>>,
  map: (entry: T) => R,
): Record<Kind, R> {
  return Object.fromEntries(Object.entries<T>(table).map(([kind, entry]) => [kind, map(entry)])) as Record<Kind, R>;
}

/**
 * Returns Lua that ends the script with an error reply, because it doesn't know a kind. A script must not have changed
 * anything before that.
 *
 * @param what The noun for a kind, such as `"limiter"`.
 * @param variable The variable that has the kind.
 */
export function refuse(what: string, variable: string): string {
  return `error({ err = "WQFORMAT Redis doesn't know the ${what} '" .. tostring(${variable}) .. "' in this release" })`;
}
