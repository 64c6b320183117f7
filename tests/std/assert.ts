/**
 * Stand-in for `@std/assert` where JSR is not reachable, with only the functions that the tests use.
 *
 * The signatures match `@std/assert` 1.0.19: code that type-checks with these functions also type-checks with the
 * originals. If an assertion passes here, the original assertion passes too. An assertion here may be stricter than the
 * original (here, 0 and -0 differ), but not weaker.
 *
 * `msg!` satisfies Node's types, which require a message. At run time, `undefined` works as well.
 */

import { AssertionError, deepStrictEqual, match, notDeepStrictEqual, ok, strictEqual } from "node:assert/strict";

/** Values that `assertFalse` accepts. */
export type Falsy = false | 0 | 0n | "" | null | undefined;

// deno-lint-ignore no-explicit-any -- as in @std/assert
type ErrorClass<E extends Error> = abstract new (...args: any[]) => E;

export function assert(expr: unknown, msg = ""): asserts expr {
  ok(expr, msg);
}

export function assertFalse(expr: unknown, msg = ""): asserts expr is Falsy {
  ok(!expr, msg);
}

export function assertEquals<T>(actual: T, expected: T, msg?: string): void {
  deepStrictEqual(actual, expected, msg!);
  ok(haveSameErrors(actual, expected), msg ?? "Two errors are never equal, as their stacks differ: compare messages");
}

/**
 * Reports whether all errors contained in two equal values are the same objects. The original assertions also compare
 * the stacks of errors; `deepStrictEqual` does not.
 */
function haveSameErrors(a: unknown, b: unknown, seen: Set<unknown> = new Set()): boolean {
  if (a === b || a === null || typeof a !== "object" || seen.has(a)) return true;
  if (a instanceof Error) return false;
  seen.add(a);
  if (a instanceof Map) {
    return [...a].every(([key, value]) => haveSameErrors(value, (b as Map<unknown, unknown>).get(key), seen));
  }
  return Object.entries(a).every(([key, value]) => haveSameErrors(value, (b as typeof a)[key as never], seen));
}

export function assertNotEquals<T>(actual: T, expected: T, msg?: string): void {
  notDeepStrictEqual(actual, expected, msg!);
}

export function assertStrictEquals<T>(actual: unknown, expected: T, msg?: string): asserts actual is T {
  strictEqual(actual, expected, msg!);
}

export function assertExists<T>(actual: T, msg?: string): asserts actual is NonNullable<T> {
  ok(actual !== undefined && actual !== null, msg!);
}

export function assertMatch(actual: string, expected: RegExp, msg?: string): void {
  match(actual, expected, msg!);
}

export function assertStringIncludes(actual: string, expected: string, msg?: string): void {
  ok(actual.includes(expected), msg ?? `Expected ${JSON.stringify(actual)} to contain ${JSON.stringify(expected)}`);
}

export function assertGreater<T>(actual: T, expected: T, msg?: string): void {
  ok(actual > expected, msg ?? `Expected ${actual} > ${expected}`);
}

export function assertLess<T>(actual: T, expected: T, msg?: string): void {
  ok(actual < expected, msg ?? `Expected ${actual} < ${expected}`);
}

export function assertAlmostEquals(actual: number, expected: number, tolerance?: number, msg?: string): void {
  const bound = tolerance ?? (isFinite(expected) ? Math.abs(expected) * 1e-7 : 1e-7); // relative by default
  const isClose = Object.is(actual, expected) || Math.abs(actual - expected) <= bound;
  ok(isClose, msg ?? `Expected ${actual} to be within ${bound} of ${expected}`);
}

// deno-lint-ignore no-explicit-any -- as in @std/assert
export function assertInstanceOf<T extends abstract new (...args: any[]) => any>(
  actual: unknown,
  expectedType: T,
  msg = "",
): asserts actual is InstanceType<T> {
  ok(actual instanceof expectedType, msg || `Expected an instance of ${expectedType.name}, got ${actual}`);
}

export function assertThrows(fn: () => unknown, msg?: string): unknown;
export function assertThrows<E extends Error = Error>(
  fn: () => unknown,
  ErrorClass: ErrorClass<E>,
  msgIncludes?: string,
  msg?: string,
): E;
export function assertThrows(fn: () => unknown, ...expected: Expected): unknown {
  try {
    fn();
  } catch (error) {
    return checkThrown(error, ...expected);
  }
  throw nothingThrown("Expected the function to throw", ...expected);
}

export function assertRejects(fn: () => PromiseLike<unknown>, msg?: string): Promise<unknown>;
export function assertRejects<E extends Error = Error>(
  fn: () => PromiseLike<unknown>,
  ErrorClass: ErrorClass<E>,
  msgIncludes?: string,
  msg?: string,
): Promise<E>;
export async function assertRejects(fn: () => PromiseLike<unknown>, ...expected: Expected): Promise<unknown> {
  const promise = fn(); // an error that `fn` throws synchronously is not a rejection, as in @std/assert
  try {
    await promise;
  } catch (error) {
    return checkThrown(error, ...expected);
  }
  throw nothingThrown("Expected the promise to reject", ...expected);
}

type Expected = [classOrMsg?: ErrorClass<Error> | string, msgIncludes?: string, msg?: string];

/** Checks a thrown value. If no class is given, any value passes. */
function checkThrown(thrown: unknown, ...[classOrMsg, includes = "", msg]: Expected): unknown {
  if (typeof classOrMsg === "function") {
    assertInstanceOf(thrown, classOrMsg, msg);
    assertStringIncludes(thrown.message, includes, msg);
  }
  return thrown;
}

function nothingThrown(text: string, ...[classOrMsg, , msg]: Expected): AssertionError {
  return new AssertionError({ message: (typeof classOrMsg === "string" ? classOrMsg : msg) ?? text });
}
