/**
 * Clock, durations, errors and checks of arguments, which the packages of this repository share. **Unstable:** this
 * entry point may change in any release. Only packages of this repository should use this entry point, because each of
 * them requires exactly this version of the core.
 *
 * @example Usage
 * ```ts
 * import { A_POSITIVE_INTEGER, requireRules } from "@workqueue/core/internal";
 * import { assertThrows } from "@std/assert";
 *
 * const rules = { retries: A_POSITIVE_INTEGER };
 * assertThrows(
 *   () => requireRules("open store", { retires: 3 }, rules),
 *   TypeError,
 *   `Cannot open store: "retires" is not an option here; did you mean "retries"?`,
 * );
 * ```
 *
 * @module
 */

export {
  A_BOOLEAN,
  A_CLOCK,
  A_FUNCTION,
  A_METRICS_PROVIDER,
  A_NON_NEGATIVE_INTEGER,
  A_POSITIVE_INTEGER,
  A_RETRY_BUDGET,
  A_SIGNAL,
  A_STRING,
  hasMethods,
  requireOptions,
  requireRule,
  requireRules,
  type Rule,
} from "./arguments.ts";
export { ChurnMap } from "./churn_map.ts";
export { MarkingMap } from "./marking_map.ts";
export { requireDuration, timeoutRule } from "./duration_arguments.ts";
export { ErrorOutput } from "./error_output.ts";
export { argumentError, inspect, invalidArgument } from "./errors.ts";
export { type CodedError, type ErrorCode, withCode } from "./error_codes.ts";
export { formatDuration, formatNumber, setInspection } from "./inspection.ts";
export {
  A_LIMIT,
  A_RETENTION,
  DISCARD,
  limitsOf,
  LIST_GIVEN_UP,
  LIST_OPTIONS,
  REDRIVE,
  REDRIVE_OPTIONS,
  redriveRuns,
  SELECTION_OPTIONS,
} from "./given_up_arguments.ts";
export { LabelledNumber, LabelledNumbers, type Labels } from "./labelled_numbers.ts";
export { escapePointer, isPlainObject } from "./objects.ts";
export { requireVersion } from "./require_version.ts";
export { inOneLine } from "./safe_text.ts";
export { suggest } from "./suggest.ts";
export { callSafely, messageOf } from "./thrown.ts";
export { type Duration, tryParseDuration } from "./duration.ts";
