import type { KeyNames } from "./key_names.ts";

/** Largest number of events that wait to be written. */
const MAX_WAITING = 100_000;
/** Number of events in one slice. Formatting a slice takes about two milliseconds. */
const SLICE = 2000;
/** Time from the first event until it is formatted, in milliseconds. */
const DELAY = 200;

/** First line of a trace. */
export const TRACE_HEADER = { workqueue: "trace", version: 1 };

/** Event of a trace, before it is formatted. */
interface Event {
  readonly at: number;
  readonly key: unknown;
  /** Priority of an added item; `undefined` for an attempt. */
  readonly priority: number | undefined;
  readonly ms: number;
  readonly hasFailed: boolean;
}

/** Collects events, and formats and writes them later. */
export class TraceWriter {
  dropped = 0;
  readonly #write: (lines: string) => void | Promise<void>;
  readonly #names: KeyNames;
  readonly #startedAt: number;
  #waiting: Event[] = [];
  #isScheduled = false;
  #isWriting = false;
  #hasEnded = false;

  /** Writes the first line. Times are written relative to `startedAt`. */
  constructor(write: (lines: string) => void | Promise<void>, names: KeyNames, startedAt: number) {
    this.#write = write;
    this.#names = names;
    this.#startedAt = startedAt;
    this.#pass(JSON.stringify(TRACE_HEADER) + "\n");
  }

  add(at: number, key: unknown, priority: number): void {
    this.#push({ at, key, priority, ms: 0, hasFailed: false });
  }

  attempt(at: number, key: unknown, ms: number, hasFailed: boolean): void {
    this.#push({ at, key, priority: undefined, ms, hasFailed });
  }

  /** Writes all events that are waiting, even while an earlier write is unfinished. */
  end(): void {
    this.#hasEnded = true;
    const lines = this.#waiting.map((event) => this.#lineOf(event)).join("");
    this.#waiting = [];
    if (lines !== "") void Promise.resolve(this.#write(lines)).catch(() => {});
  }

  #push(event: Event): void {
    if (this.#waiting.length >= MAX_WAITING) {
      this.dropped++;
      return;
    }
    this.#waiting.push(event);
    if (!this.#isScheduled && !this.#isWriting) this.#schedule(DELAY);
  }

  #schedule(ms: number): void {
    this.#isScheduled = true;
    const timer: unknown = setTimeout(() => {
      this.#isScheduled = false;
      this.#writeSlice();
    }, ms);
    (timer as { unref?(): void }).unref?.();
  }

  #writeSlice(): void {
    const slice = this.#waiting.splice(0, SLICE);
    if (slice.length > 0 && !this.#hasEnded) this.#pass(slice.map((event) => this.#lineOf(event)).join(""));
  }

  /** Passes lines to `write`, and goes on when they are written. A `write` that fails loses its lines. */
  async #pass(lines: string): Promise<void> {
    this.#isWriting = true;
    try {
      await this.#write(lines);
    } catch {
      this.dropped += lines.split("\n").length - 1;
    }
    this.#isWriting = false;
    if (this.#waiting.length > 0 && !this.#hasEnded) this.#schedule(this.#waiting.length > SLICE ? 0 : DELAY);
  }

  #lineOf({ at, key, priority, ms, hasFailed }: Event): string {
    const time = round(at - this.#startedAt);
    const name = this.#names.nameOf(key);
    const event = priority === undefined
      ? { at: time, attempt: name, ms: round(ms), ...(hasFailed ? { failed: true } : {}) }
      : { at: time, add: name, ...(priority === 0 ? {} : { priority }) };
    return JSON.stringify(event) + "\n";
  }
}

/** Rounds to microseconds. */
function round(ms: number): number {
  return Math.round(ms * 1000) / 1000;
}
