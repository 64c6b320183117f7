import { systemClock } from "@workqueue/core";
import { totalsOf } from "@workqueue/core/metrics";
import type { DashboardQueue } from "../contract.ts";
import { logFailure } from "../http/failure_log.ts";
import { isRemote } from "./source.ts";
import { setUnref } from "./timer.ts";

/** Time after which another attempt is made to end a pause if the queue does not answer, in milliseconds. */
const TRY_AGAIN_AFTER = 5000;

/** Functions that pause and resume the work of a queue. */
export interface Pausing {
  /** Pauses work. Returns the number of this pause, if the queue counts pauses. */
  pause(): number | void | Promise<number | void>;
  resume(): void | Promise<void>;
  /** Reports whether nobody has paused again since the pause with this number. Missing if only the engine knows. */
  isLatest?(pause: number | void): boolean;
  /** Ends the pause with this number: resumes work, unless someone has paused it again since. */
  end(pause: number | void): void | Promise<void>;
}

/** Returns the functions that pause a shared queue or else the pool, or a sentence that says why there are none. */
export function pausingOf({ queue, pool }: DashboardQueue<unknown>): Pausing | string {
  if (isRemote(queue)) {
    return {
      pause: () => queue.pause(),
      async resume() {
        await queue.resume();
        pool?.resume(); // the pool itself may have been paused
      },
      end: (pause) => queue.resume(typeof pause === "number" ? { pause } : {}),
    };
  }
  if (pool === undefined) return "Pausing requires the queue's pool, which the dashboard was not given.";
  const isLatest = (pause: number | void) => totalsOf(pool).pauses === pause;
  return {
    pause() {
      pool.pause();
      return totalsOf(pool).pauses;
    },
    resume: () => pool.resume(),
    isLatest,
    end(pause) {
      if (isLatest(pause)) pool.resume();
    },
  };
}

/**
 * Pauses of a queue by users of the dashboard. A pause may have an end, at which this process resumes work. The pause
 * ends then even if the dashboard is disposed of, because otherwise the queue would stay paused.
 */
export class Pauses {
  readonly #pausing: Pausing;
  /** End of the pause with this number, and the time when it was set, on the monotonic clock. */
  #end: { readonly pause: number | void; readonly at: number; readonly setAt: number; timer: unknown } | undefined;
  /** Number of calls so far. Of two calls at the same time, the later call decides when the pause ends. */
  #calls = 0;

  constructor(pausing: Pausing) {
    this.#pausing = pausing;
  }

  /** Time until this process ends the pause, in milliseconds; `null` if it does not end a pause. */
  get endsInMs(): number | null {
    if (this.#end === undefined || this.#pausing.isLatest?.(this.#end.pause) === false) return null;
    return Math.max(this.#end.at - systemClock.now(), 0);
  }

  /** Pauses work, for a number of milliseconds or until it is resumed. A later call replaces the end. */
  async pause(ms?: number): Promise<void> {
    const call = ++this.#calls;
    const pause = await this.#pausing.pause();
    if (call !== this.#calls) return;
    this.#forget();
    if (ms === undefined) return;
    const now = systemClock.now();
    this.#end = { pause, at: now + ms, setAt: now, timer: undefined };
    this.#endAfter(ms);
  }

  /** Resumes work, no matter who paused it. */
  async resume(): Promise<void> {
    this.#calls++;
    await this.#pausing.resume();
    this.#forget();
  }

  /** Forgets the end of a pause that someone else has ended, according to a look begun at `since`. */
  sawRunning(since: number): void {
    if (this.#end !== undefined && this.#end.setAt < since) this.#forget();
  }

  #forget(): void {
    systemClock.clearTimeout(this.#end?.timer);
    this.#end = undefined;
  }

  #endAfter(ms: number): void {
    const end = this.#end!;
    end.timer = setUnref(async () => {
      try {
        await this.#pausing.end(end.pause);
        if (this.#end === end) this.#end = undefined;
      } catch (error) {
        logFailure("end a pause", error);
        if (this.#end === end) this.#endAfter(TRY_AGAIN_AFTER);
      }
    }, ms);
  }
}
