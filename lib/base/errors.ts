/**
 * The errors that this module throws, and how it words them.
 *
 * @module
 */

import { TERMINAL } from "./brands.ts";
import { type CodedError, type ErrorCode, withCode } from "./error_codes.ts";
import { quote } from "./safe_text.ts";

/**
 * Thrown by a handler of {@linkcode runWorkers} to say that trying again is pointless: the item is given
 * up at once, whatever its limiter and `maxRetries` say.
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
  /** The name of the class, as for every error. */
  override name = "TerminalError";

  /**
   * Makes the error, as `Error` does.
   *
   * @param message Why trying again is pointless.
   * @param options The `cause`, if there is one.
   */
  constructor(message?: string, options?: ErrorOptions) {
    super(message, options);
    // Pools know the errors of another copy of this package by this. No member, as bundlers would keep the class for
    // it.
    Object.defineProperty(this, TERMINAL, { value: true });
  }
}

/** One thing that is wrong with a config. */
export interface ConfigIssue {
  /** Where: a JSON Pointer (RFC 6901) into the document, such as `/limiters/api/burst`; `""` is all of it. */
  readonly path: string;
  /** What: the option, the rule it breaks and the value received. */
  readonly message: string;
  /** The line of the text, from 1, that it stands in. For what reads files to fill in, where their parser tells. */
  readonly line?: number;
  /** The column of that line, from 1. */
  readonly column?: number;
}

/**
 * Thrown when a config cannot be used. It carries everything that is wrong, not only the first thing.
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
 *   { path: "/limiters/api/rate", message: "'rate' must be a non-negative number: received -1" },
 *   { path: "/limiters/api/burst", message: "'burst' must be a non-negative integer: received 1.5" },
 * ]);
 * ```
 */
export class ConfigError extends Error {
  /** The name of the class, as for every error. */
  override name = "ConfigError";
  /** The code of every such error. */
  readonly code: "WQ_CONFIG" = "WQ_CONFIG" satisfies ErrorCode;
  /** Every problem found. */
  readonly issues: readonly ConfigIssue[];

  /**
   * Makes the error of these problems.
   *
   * @param action What could not be done, such as `"load config"`.
   * @param issues Every problem found; at least one.
   */
  constructor(action: string, issues: readonly ConfigIssue[]) {
    super(`Cannot ${action} as ${describeIssues(issues)}`);
    this.issues = issues;
  }
}

/** How many problems the message of the error shows. The others are only among its `issues`. */
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

/** Creates the error for arguments that cannot be used, for any reason. */
export function argumentError(action: string, reason: string, ErrorClass: ErrorConstructor = TypeError): CodedError {
  return withCode("WQ_ARGUMENT", new ErrorClass(`Cannot ${action} as ${reason}`));
}

/** Creates the error for a function of a limiter, called `name`, that returned a value which breaks a rule. */
export function limiterError(action: string, name: string, rule: string, value: unknown): CodedError {
  return withCode("WQ_LIMITER", invalidArgument(action, name, rule, value));
}

/** Words a broken rule: the option, the rule and the value received. */
export function brokenRule(option: string, rule: string, value: unknown): string {
  return `'${shorten(option)}' ${rule}: received ${inspect(value)}`;
}

const MAX_TEXT_IN_MESSAGE = 60;

/** Cuts a text down to what fits in a message. */
function shorten(text: string): string {
  return text.length > MAX_TEXT_IN_MESSAGE ? text.slice(0, MAX_TEXT_IN_MESSAGE) + "…" : text;
}

/** Whether a value is an array. A proxy that was revoked throws when it is asked. */
function isArray(value: object): boolean {
  try {
    return Array.isArray(value);
  } catch {
    return false;
  }
}

/** Words a value for a message. Runs none of the value's own code, such as a `toString`. */
export function inspect(value: unknown): string {
  switch (typeof value) {
    case "string":
      return quote(shorten(value));
    case "bigint":
      return `${value}n`;
    case "symbol":
    case "function":
      return `a ${typeof value}`;
    case "object":
      return value === null ? "null" : isArray(value) ? "an array" : "an object";
    default:
      return Object.is(value, -0) ? "-0" : String(value);
  }
}
