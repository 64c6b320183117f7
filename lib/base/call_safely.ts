/**
 * Calls a user-defined callback. If the callback throws, or returns a promise that rejects, passes the error to
 * `onError`. Never throws. Creates a promise only if the callback returns one.
 *
 * @typeParam A The type of the argument.
 * @param callback The callback.
 * @param onError Receives the error. If `onError` itself fails, its error is dropped.
 * @param argument The callback's argument.
 */
export function callSafely<A>(
  callback: (argument: A) => unknown,
  onError: (error: unknown) => unknown,
  argument: A,
): void {
  try {
    const returned = callback(argument) as PromiseLike<unknown> | null | undefined;
    if (typeof returned?.then === "function") Promise.resolve(returned).catch(onError).catch(drop);
  } catch (error) {
    callSafely(onError, drop, error);
  }
}

function drop(): void {}
