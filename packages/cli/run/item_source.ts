import type { RateLimitingQueue, WorkerPool } from "@workqueue/core";
import type { RemoteQueue } from "@workqueue/engine";
import type { RunOutput } from "../output/run_output.ts";
import type { ItemReport } from "../report/records.ts";
import type { AttemptResult } from "./attempts.ts";
import type { OpenItem } from "./open_item.ts";
import type { SourceTally, Tally } from "./tally.ts";

/**
 * Queue from which a run takes its items, and the way of the list into the queue.
 *
 * @typeParam T Type of the queue's items.
 */
export interface ItemSource<T> {
  /** The queue. */
  readonly queue: RateLimitingQueue<T> | RemoteQueue<T>;
  /** Whether a worker waits until all output of its attempt was passed on, before the queue learns the result. */
  readonly waitsForOutput: boolean;
  /**
   * Adds the lines of the list to the queue. Ends the run when nothing is left to do, unless the run is endless.
   * Resolves when the run ends.
   *
   * @throws {Error} If the lines can't be read or added.
   */
  feed(lines: AsyncIterable<readonly string[]>): Promise<void>;
  /** Returns the item for an attempt that a worker begins. */
  take(taken: T): OpenItem;
  /** Called after each call of `take`, when the worker can begin another attempt. */
  release(): void;
  /** Called when an attempt has ended. `"not-begun"` means that its result doesn't count. */
  onAttempt(item: OpenItem, kind: AttemptResult["kind"]): void;
  /** Called when the outcome of an item is decided. Calls `record` when the outcome can be reported. */
  onDecided(item: OpenItem, record: () => void): void;
  /**
   * Returns an item that was given up although no attempt of this run failed; `undefined` if its outcome is not
   * decided.
   */
  givenUpOutside(taken: T): OpenItem | undefined;
  /** Called with each error of the queue or its limiter. */
  onError(error: unknown, taken: T): void;
  /** Returns the parts of the progress that only the source knows. */
  tally(counts: Counts): SourceTally;
  /** Called when all workers have ended. Prints all output, closes the queue, and returns the undecided items. */
  finish(): Promise<Iterable<OpenItem>>;
}

/** Numbers from which a source calculates others. */
export type Counts = Pick<Tally, "running" | "succeeded" | "givenUp">;

/** Parts of a run that its source uses. */
export interface SourceContext {
  /** Pool of workers. Can't be used before the source has been created. */
  readonly pool: WorkerPool;
  /** Output of the commands. */
  readonly output: RunOutput;
  /** Number of commands that may currently run at once. */
  readonly limit: number;
  /** Aborts when no more attempts may begin. */
  readonly stopped: AbortSignal;
  /** Decides the outcome of an item. */
  decide(item: OpenItem, outcome: ItemReport["outcome"]): void;
  /** Lets no more attempts begin. If there is an error, the run ends with it. */
  stop(error?: unknown): void;
  /** Ends the run immediately because of an error that affects more than one item. */
  fail(error: unknown): void;
}
