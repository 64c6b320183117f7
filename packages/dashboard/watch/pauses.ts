import { systemClock } from "@workqueue/core";
import { logFailure } from "../http/failure_log.ts";
import type { Pausing } from "./source.ts";
import { setUnref } from "./timer.ts";

/** Time after which another attempt is made to end a pause if the queue does not answer, in milliseconds. */
const TRY_AGAIN_AFTER = 5000;

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
