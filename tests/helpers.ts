import { assertEquals, assertThrows } from "@std/assert";
import { type Clock, ConfigError, type ConfigIssue } from "@workqueue/core";
import { flush } from "./queue_helpers.ts";

/** Returns the code of an error, such as `"WQ_ARGUMENT"`; `undefined` if it has none. */
export function codeOf(error: unknown): unknown {
  return (error as { code?: unknown } | null | undefined)?.code;
}

/** Clock that a test moves by hand, in either direction. The clock's timers fire when `advance` passes their times. */
export class HandClock implements Clock {
  /** Current time. Setting the time fires no timers. */
  time: number;
  /** Delays of all timers that were set, in order. */
  readonly delays: number[] = [];
  /** Number of calls to `clearTimeout`. */
  cleared = 0;
  readonly #timers = new Map<number, { at: number; callback: () => void }>();

  constructor(time = 0) {
    this.time = time;
  }

  /** Number of timers that are set and have not fired yet. */
  get timers(): number {
    return this.#timers.size;
  }

  now(): number {
    return this.time;
  }

  setTimeout(callback: () => void, ms: number): number {
    this.#timers.set(this.delays.push(ms), { at: this.time + ms, callback });
    return this.delays.length;
  }

  clearTimeout(handle: unknown): void {
    this.cleared++;
    this.#timers.delete(handle as number);
  }

  /** Advances the time and fires each timer at its time, the earliest first. Calls `settle` after each timer. */
  async advance(ms: number, settle: () => Promise<void> = flush): Promise<void> {
    const end = this.time + ms;
    while (this.fireNext(end)) await settle();
    this.time = end;
  }

  /**
   * Moves to the earliest timer that is due by `end` and fires it; on a tie, fires the timer that was set first.
   * Reports whether there was such a timer.
   */
  fireNext(end = Infinity): boolean {
    let next: [handle: number, timer: { at: number; callback: () => void }] | undefined;
    for (const timer of this.#timers) if (next === undefined || timer[1].at < next[1].at) next = timer;
    if (next === undefined || next[1].at > end) return false;
    const [handle, { at, callback }] = next;
    this.#timers.delete(handle);
    this.time = Math.max(this.time, at);
    callback();
    return true;
  }
}

/** Records calls to `console.error`. */
export class Console implements Disposable {
  readonly calls: unknown[][] = [];
  readonly #error = console.error;

  constructor(write: (line: string) => void = () => {}) {
    console.error = (...args: unknown[]) => {
      this.calls.push(args);
      write(String(args[0]));
    };
  }

  get lines(): string[] {
    return this.calls.map((args) => {
      assertEquals(args.length, 1);
      return args[0] as string;
    });
  }

  [Symbol.dispose](): void {
    console.error = this.#error;
  }
}

/** Returns the issues of a config. Fails if the config is not rejected. */
export function issuesOf(build: () => unknown): ConfigIssue[] {
  return [...assertThrows(build, ConfigError).issues];
}

/** Returns the paths of the issues of a config. Fails if the config is not rejected. */
export function pathsOf(build: () => unknown): string[] {
  return issuesOf(build).map(({ path }) => path);
}

/**
 * Runs `action` while every object inherits the given properties, as it would after an attack on `Object.prototype`.
 */
export function whilePolluted<R>(properties: Record<string, unknown>, action: () => R): R {
  for (const [name, value] of Object.entries(properties)) {
    Object.defineProperty(Object.prototype, name, { value, configurable: true, enumerable: true, writable: true });
  }
  try {
    return action();
  } finally {
    for (const name of Object.keys(properties)) delete (Object.prototype as unknown as Record<string, unknown>)[name];
  }
}

/**
 * Type that is `true` if two types are identical, including `any` and optional markers. For `assertType<Same<A, B>>()`.
 */
export type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends (<T>() => T extends B ? 1 : 2) ? true : false;

/** Compiles only if its type argument is `true`. */
export function assertType<_Condition extends true>(): void {}
