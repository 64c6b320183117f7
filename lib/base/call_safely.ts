/**
 * Calls a user's callback, which may throw, or be asynchronous and reject. Never throws itself. If the callback returns
 * no promise, none is made.
 *
 * @typeParam A The type of the argument.
 * @param callback The callback.
 * @param onError Receives what the callback throws or rejects with. What `onError` throws or rejects with is dropped.
 * @param argument The argument of the callback.
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
