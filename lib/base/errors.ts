/**
 * Errors of this package, and functions that create their messages.
 *
 * @module
 */

import { setBrand, TERMINAL } from "./brands.ts";
import { type CodedError, type ErrorCode, withCode } from "./error_codes.ts";
import { quote } from "./safe_text.ts";

/**
 * Thrown by a handler of {@linkcode runWorkers} if retrying is pointless. The item is given up at once, regardless of
 * its limiter and `maxRetries`.
 *
 * @example Usage
 * ```ts
 * import { createDefaultItemLimiter, createRateLimitingQueue, runWorkers, TerminalError } from "@workqueue/core";
 * import { assertEquals } from "@std/assert";
 *
 * const queue = createRateLimitingQueue<string>(createDefaultItemLimiter());
 * queue.add("page-that-is-gone");
 *
 * const log: string[] = [];
 * runWorkers(queue, () => {
 *   throw new TerminalError("404 Not Found");
 * }, {
 *   onError: (error, item) => log.push(`${item}: ${error}`),
 *   onGiveUp: (_error, item) => log.push(`${item} is given up`),
 * });
 * await queue.shutDownWithDrain();
 *
 * assertEquals(log, ["page-that-is-gone: TerminalError: 404 Not Found", "page-that-is-gone is given up"]);
 * ```
 */
export class TerminalError extends Error {
  /** Always `"TerminalError"`. */
  override name = "TerminalError";

  /**
   * Creates the error.
   *
   * @param message Reason why retrying is pointless.
   * @param options The `cause` of the error. None by default.
   */
  constructor(message?: string, options?: ErrorOptions) {
    super(message, options);
    setBrand(this, TERMINAL, true); // lets pools recognize errors from another copy of this package
  }
}

/** Problem in a config. */
export interface ConfigIssue {
  /** JSON Pointer (RFC 6901) to the problem, such as `/limiters/api/burst`; `""` for the whole document. */
  readonly path: string;
  /** Description of the problem: the option, the rule that it breaks, and the value received. */
  readonly message: string;
  /** Line of the problem in the config file, starting at 1. Absent if the file's parser doesn't report lines. */
  readonly line?: number;
  /** Column of the problem in its line, starting at 1. */
  readonly column?: number;
}

/**
 * Thrown when a config cannot be used. Lists every problem, not only the first one.
 *
 * @example Usage
 * ```ts
 * import { ConfigError, loadConfig } from "@workqueue/core";
 * import { assertEquals, assertThrows } from "@std/assert";
 *
 * const error = assertThrows(
 *   () => loadConfig({ limiters: { api: { type: "bucket", rate: -1, burst: 1.5 } } }),
 *   ConfigError,
 * );
 * assertEquals(error.issues, [
 *   { path: "/limiters/api/rate", message: "'rate' must be a non-negative number, got -1" },
 *   { path: "/limiters/api/burst", message: "'burst' must be a non-negative integer, got 1.5" },
 * ]);
 * ```
 */
export class ConfigError extends Error {
  /** Always `"ConfigError"`. */
  override name = "ConfigError";
  /** Always `"WQ_CONFIG"`. */
  readonly code: "WQ_CONFIG" = "WQ_CONFIG" satisfies ErrorCode;
  /** All problems found. */
  readonly issues: readonly ConfigIssue[];

  /**
   * Creates the error for a list of problems.
   *
   * @param action Action that failed, such as `"load config"`.
   * @param issues All problems found; at least one.
   */
  constructor(action: string, issues: readonly ConfigIssue[]) {
    super(`Cannot ${action}: ${describeIssues(issues)}`);
    this.issues = issues;
  }
}

/** Maximum number of problems that the error's message lists. The error's `issues` contains all problems. */
export const MAX_ISSUES_IN_MESSAGE = 20;

function describeIssues(issues: readonly ConfigIssue[]): string {
  const lines = issues.slice(0, MAX_ISSUES_IN_MESSAGE).map(({ path, message, line, column }) => {
    const place = line === undefined ? "" : `, line ${line}, column ${column}`;
    return path === "" ? message : `${message} (at ${shorten(path)}${place})`;
  });
  if (lines.length === 1) return lines[0]!;
  const left = issues.length - lines.length;
  if (left > 0) lines.push(`… and ${left} more`);
  return `it has ${issues.length} problems:\n  ${lines.join("\n  ")}`;
}

/**
 * Creates the error for an argument that breaks a rule: a `RangeError` for a number, a `TypeError` for
 * anything else.
 */
export function invalidArgument(action: string, option: string, rule: string, value: unknown): CodedError {
  return argumentError(action, brokenRule(option, rule, value), typeof value === "number" ? RangeError : TypeError);
}

/**
 * Creates the error for arguments that are invalid for the given reason. The error's class is `TypeError` by default.
 */
export function argumentError(action: string, reason: string, ErrorClass: ErrorConstructor = TypeError): CodedError {
  return Object.assign(new ErrorClass(`Cannot ${action}: ${reason}`), { code: "WQ_ARGUMENT" as const });
}

/** Creates the error for a limiter's method whose return value breaks a rule. `name` is the name of the method. */
export function limiterError(action: string, name: string, rule: string, value: unknown): CodedError {
  return withCode("WQ_LIMITER", invalidArgument(action, name, rule, value));
}

/** Describes a broken rule: the option, the rule and the value received. */
export function brokenRule(option: string, rule: string, value: unknown): string {
  return `'${shorten(option)}' ${rule}, got ${inspect(value)}`;
}

const MAX_TEXT_IN_MESSAGE = 60;

/** Shortens a string to fit in a message. */
function shorten(text: string): string {
  return text.length > MAX_TEXT_IN_MESSAGE ? text.slice(0, MAX_TEXT_IN_MESSAGE) + "…" : text;
}

/** Reports whether a value is an array. Unlike `Array.isArray`, doesn't throw for a revoked proxy. */
function isArray(value: object): boolean {
  try {
    return Array.isArray(value);
  } catch {
    return false;
  }
}

/** Describes a value for a message. Doesn't run any of the value's own code, such as its `toString`. */
export function inspect(value: unknown): string {
  const type = typeof value;
  if (type === "string") return quote(shorten(value as string));
  if (type === "bigint") return `${value}n`;
  if (type === "symbol" || type === "function") return `a ${type}`;
  if (type === "object" && value !== null) return isArray(value as object) ? "an array" : "an object";
  return Object.is(value, -0) ? "-0" : String(value);
}
