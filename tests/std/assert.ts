/**
 * Stands in for `@std/assert` where JSR does not answer: the functions that the tests use, and no more.
 *
 * `msg!` is for types of Node that know only a message that is there; without one, it takes `undefined` all
 * the same.
 */

import { AssertionError, deepStrictEqual, match, notDeepStrictEqual, ok, strictEqual } from "node:assert/strict";

export { AssertionError };

// deno-lint-ignore no-explicit-any -- as in @std/assert
type ErrorClass<E extends Error> = abstract new (...args: any[]) => E;

export function assert(expr: unknown, msg = ""): asserts expr {
  ok(expr, msg);
}

export function assertFalse(expr: unknown, msg?: string): asserts expr is false {
  ok(!expr, msg!);
}

export function assertEquals<T>(actual: T, expected: T, msg?: string): void {
  deepStrictEqual(actual, expected, msg!);
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

export function assertAlmostEquals(actual: number, expected: number, tolerance = 1e-7, msg?: string): void {
  const isClose = Object.is(actual, expected) || Math.abs(actual - expected) <= tolerance;
  ok(isClose, msg ?? `Expected ${actual} to be within ${tolerance} of ${expected}`);
}

export function assertInstanceOf<E extends Error>(
  actual: unknown,
  expectedType: ErrorClass<E>,
  msg?: string,
): asserts actual is E {
  ok(actual instanceof expectedType, msg ?? `Expected an instance of ${expectedType.name}, got ${actual}`);
}

function checkError<E extends Error>(error: unknown, Class: ErrorClass<E>, includes = "", msg?: string): E {
  assertInstanceOf(error, Class, msg);
  assertStringIncludes(error.message, includes, msg);
  return error;
}

export function assertThrows<E extends Error = Error>(
  fn: () => unknown,
  ErrorClass: ErrorClass<E> = Error as unknown as ErrorClass<E>,
  msgIncludes?: string,
  msg?: string,
): E {
  try {
    fn();
  } catch (error) {
    return checkError(error, ErrorClass, msgIncludes, msg);
  }
  throw new AssertionError({ message: msg ?? "Expected the function to throw" });
}

export async function assertRejects<E extends Error = Error>(
  fn: () => PromiseLike<unknown>,
  ErrorClass: ErrorClass<E> = Error as unknown as ErrorClass<E>,
  msgIncludes?: string,
  msg?: string,
): Promise<E> {
  const promise = fn(); // one that throws instead of rejecting is an error, as in @std/assert
  try {
    await promise;
  } catch (error) {
    return checkError(error, ErrorClass, msgIncludes, msg);
  }
  throw new AssertionError({ message: msg ?? "Expected the promise to reject" });
}
