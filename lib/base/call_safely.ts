/**
 * Calls a user's callback and passes its error to `onError`, whether thrown or rejected. Never throws. Creates no
 * promise unless the callback returns one.
 *
 * @typeParam A The type of the argument.
 * @param callback The callback.
 * @param onError Receives the error. Errors of `onError` itself are dropped.
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
