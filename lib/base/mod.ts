/**
 * How this package checks what it is given, and words what is wrong with it: for packages around it, so that all speak alike.
 *
 * @example Usage
 * ```ts
 * import { A_POSITIVE_INTEGER, requireRules } from "@workqueue/core/arguments";
 * import { assertThrows } from "@std/assert";
 *
 * const rules = { retries: A_POSITIVE_INTEGER };
 * assertThrows(
 *   () => requireRules("open store", { retires: 3 }, rules),
 *   TypeError,
 *   `Cannot open store as "retires" is not an option here; did you mean "retries"?`,
 * );
 * ```
 *
 * @module
 */

export {
  A_BOOLEAN,
  A_CLOCK,
  A_FUNCTION,
  A_NON_NEGATIVE_INTEGER,
  A_POSITIVE_INTEGER,
  A_SIGNAL,
  A_STRING,
  hasMethods,
  requireInteger,
  requireOptions,
  requireRules,
  type Rule,
} from "./arguments.ts";
export { requireDuration } from "./duration_arguments.ts";
export { inspect, invalidArgument } from "./errors.ts";
export { formatDuration, formatNumber, setInspection } from "./inspection.ts";
export { inOneLine } from "./safe_text.ts";
export { suggest } from "./suggest.ts";
export type { Duration } from "./duration.ts";
