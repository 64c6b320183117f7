import { nextTask } from "../time/next_task.ts";
import type { KeyNames } from "./key_names.ts";

/** Largest number of events that wait to be written. */
const MAX_WAITING = 100_000;
/** Number of events in one slice. Formatting a slice takes about two milliseconds. */
const SLICE = 2000;
/** Time from the first event until it is formatted, in milliseconds. */
const DELAY = 200;

/** Event of a trace, before it is formatted. */
interface Event {
  readonly at: number;
  readonly key: unknown;
  /** Priority of an added item; `undefined` for an attempt. */
  readonly priority: number | undefined;
  readonly ms: number;
  readonly hasFailed: boolean;
}

/** Options of a {@linkcode TraceWriter}. */
export interface TraceWriterOptions {
  write(lines: string): void | Promise<void>;
  readonly names: KeyNames;
  readonly separator: string | undefined;
  /** Time from which the times in the trace count. */
  readonly startedAt: number;
}

/** Collects events, and formats and writes them later. Only one write is pending at a time. */
export class TraceWriter {
  dropped = 0;
  readonly #options: TraceWriterOptions;
  #waiting: Event[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined = undefined;
  /** Resolves when the pending write has ended; `undefined` if none is pending. */
  #pending: Promise<void> | undefined = undefined;
  #end: Promise<void> | undefined = undefined;

  /** Writes the first line. */
  constructor(options: TraceWriterOptions) {
    this.#options = options;
    const header = JSON.stringify({ workqueue: "trace", version: 1, separator: options.separator });
    this.#begin(`${header}\n`, 0);
  }

  add(at: number, key: unknown, priority: number): void {
    this.#push({ at, key, priority, ms: 0, hasFailed: false });
  }

  attempt(at: number, key: unknown, ms: number, hasFailed: boolean): void {
    this.#push({ at, key, priority: undefined, ms, hasFailed });
  }

  /** Writes all events that are waiting, after the pending write. Further events are ignored. */
  end(): Promise<void> {
    return this.#end ??= this.#writeAll();
  }

  #push(event: Event): void {
    if (this.#end !== undefined) return;
    if (this.#waiting.length >= MAX_WAITING) {
      this.dropped++;
      return;
    }
    const count = this.#waiting.push(event);
    if (this.#pending === undefined && (count === 1 || count === SLICE)) this.#schedule();
  }

  /** Plans the next slice: soon if a slice is full. */
  #schedule(): void {
    clearTimeout(this.#timer);
    const write = () => {
      if (this.#pending === undefined && this.#end === undefined) this.#writeSlice();
    };
    if (this.#waiting.length >= SLICE) void nextTask().then(write);
    else {
      this.#timer = setTimeout(write, DELAY);
      (this.#timer as unknown as { unref?(): void }).unref?.();
    }
  }

  async #writeAll(): Promise<void> {
    if (this.#pending !== undefined) await this.#pending;
    while (this.#waiting.length > 0) {
      this.#writeSlice();
      await this.#pending;
    }
  }

  #writeSlice(): void {
    const slice = this.#waiting.splice(0, SLICE);
    this.#begin(slice.map((event) => this.#lineOf(event)).join(""), slice.length);
  }

  #begin(lines: string, count: number): void {
    this.#pending = this.#write(lines, count);
  }

  /** Passes lines to `write`, and goes on when they are written. A `write` that fails loses its lines. */
  async #write(lines: string, count: number): Promise<void> {
    try {
      await this.#options.write(lines);
    } catch {
      this.dropped += count;
    }
    this.#pending = undefined;
    if (this.#waiting.length > 0 && this.#end === undefined) this.#schedule();
  }

  #lineOf({ at, key, priority, ms, hasFailed }: Event): string {
    const time = round(at - this.#options.startedAt);
    const name = this.#options.names.jsonOf(key);
    if (priority !== undefined) {
      return `{"at":${time},"add":${name}${priority === 0 ? "" : `,"priority":${priority}`}}\n`;
    }
    return `{"at":${time},"attempt":${name},"ms":${round(ms)}${hasFailed ? ',"failed":true' : ""}}\n`;
  }
}

/** Rounds to microseconds. A clock may go back, but no time in a trace is negative. */
function round(ms: number): number {
  return Math.max(Math.round(ms * 1000) / 1000, 0);
}
