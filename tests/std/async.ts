/** Stands in for `@std/async` where JSR does not answer: the functions that the tests use, and no more. */

import { setTimeout } from "node:timers/promises";

export function delay(ms: number, options: { signal?: AbortSignal } = {}): Promise<void> {
  return setTimeout(ms, undefined, options);
}

export async function deadline<T>(p: Promise<T>, ms: number): Promise<T> {
  const timer = new AbortController();
  const late = setTimeout(ms, undefined, { signal: timer.signal }).then(() => {
    throw new DOMException("Signal timed out.", "TimeoutError");
  });
  late.catch(() => {}); // when the timer is ended below
  try {
    return await Promise.race([p, late]);
  } finally {
    timer.abort();
  }
}
