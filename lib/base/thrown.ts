/**
 * Values that code of users throws. Any value can be thrown, even one whose properties throw when they are read.
 *
 * @module
 */

import { RETRY_AFTER, TERMINAL } from "./brands.ts";
import { inspect } from "./errors.ts";

/** Wishes of a handler that threw a `TerminalError` or a `RetryAfterError`, possibly of another copy of the package. */
export interface Asked {
  /** Whether the item is given up at once. */
  isTerminal: boolean;
  /** Minimum delay in milliseconds; 0 if none was asked for. */
  minDelay: number;
  /** Scope of the delay, if more than the item is delayed: `"group"` or `"queue"`, unless the error is malformed. */
  scope: unknown;
}

/** Returns the wishes of a thrown value. */
export function askedBy(thrown: unknown): Asked {
  const asked: Asked = { isTerminal: false, minDelay: 0, scope: undefined };
  try {
    const error = thrown as Record<symbol | "scope", unknown>;
    asked.isTerminal = error[TERMINAL] === true;
    if (Number.isFinite(error[RETRY_AFTER])) Object.assign(asked, { minDelay: error[RETRY_AFTER], scope: error.scope });
  } catch {
    // The value is not an object, or a property throws. Properties that were read before the error still count.
  }
  return asked;
}

const MAX_LENGTH = 300;

/**
 * Returns the name and message of an error, or a description of any other thrown value, in at most 300 characters.
 * Never throws. The text is a copy, because runtimes may store a slice of a long text as a reference to the whole.
 */
export function messageOf(thrown: unknown): string {
  try {
    if (!(thrown instanceof Error)) return inspect(thrown);
    const { name, message } = thrown;
    const text = message ? `${name}: ${message}` : name;
    const isShort = text.length <= MAX_LENGTH;
    const shown = isShort ? text : text.slice(0, MAX_LENGTH - 1).replace(/[\ud800-\udbff]$/, "") + "…";
    return JSON.parse(JSON.stringify(shown));
  } catch {
    return inspect(thrown);
  }
}

/**
 * Returns the source location where an error was created, as the runtime formats it; `""` if the location is unknown. A
 * call takes a few microseconds.
 */
export function placeOf(thrown: unknown): string {
  try {
    // The code that creates a timeout or abort error is not at fault, so the location of that code would mislead.
    if (!(thrown instanceof Error) || thrown instanceof DOMException) return "";
    const { message, stack = "" } = thrown;
    return stack.slice(stack.indexOf(message) + message.length).match(/^.*:\d+:\d+\)?$/m)?.[0].trim() ?? "";
  } catch {
    return "";
  }
}

/**
 * Calls a callback of the user. If the callback throws, or returns a promise that rejects, passes the error to
 * `onError`. Never throws. Creates a promise only if the callback returns one.
 *
 * @typeParam A The types of the arguments.
 * @param callback The callback.
 * @param onError Receives the error. If `onError` itself fails, its error is dropped. By default, the error is dropped.
 * @param args The arguments of the callback.
 */
export function callSafely<A extends readonly unknown[]>(
  callback: (...args: A) => unknown,
  onError: (error: unknown) => unknown = drop,
  ...args: A
): void {
  try {
    const returned = callback(...args) as PromiseLike<unknown> | null | undefined;
    if (typeof returned?.then === "function") Promise.resolve(returned).catch(onError).catch(drop);
  } catch (error) {
    if (onError !== drop) callSafely(onError, drop, error);
  }
}

function drop(): void {}
