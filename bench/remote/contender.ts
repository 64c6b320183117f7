/** Common interface of queues outside the process, so that they can be measured in the same way. */

/** Queue that a contender opens, and its items. */
export interface QueueOptions {
  /** URL of the server, or path of the file. */
  readonly place: string;
  /** Name of the queue. */
  readonly queue: string;
  /** Number of characters that each item has in addition to its key. If 0, each item consists only of its key. */
  readonly payload: number;
  /** Whether an add to a file must be on the disk (`"full"`), or with the operating system (`"normal"`). */
  readonly durability?: "full" | "normal";
  /** Order of the ready items. First in, first out by default. */
  readonly order?: "priority" | "fair";
}

/** Function that opens a session. */
export type Contender<S extends Session = Session> = (options: QueueOptions) => Promise<S>;

/** Open queue in one process. Items are identified by their keys. */
export interface Session extends AsyncDisposable {
  add(key: string): Promise<unknown>;
  addAll(keys: string[]): Promise<unknown>;
  /** Opens workers that process `concurrency` items at the same time. The handler returns immediately. */
  openWorkers(concurrency: number, handler: (key: string) => void): Promise<Workers>;
  /** Returns the number of unfinished items. */
  left(): Promise<number>;
}

/** Session that can also delay items, and finish items without workers. */
export interface FullSession extends Session {
  addAfter(key: string, ms: number): Promise<unknown>;
  /** Takes one ready item and finishes it by direct calls, without a pool of workers. */
  takeAndFinish(): Promise<void>;
}

export interface Workers {
  start(): void;
  /** Stops taking items. Resolves when all running handlers have finished. */
  stop(): Promise<unknown>;
}

const FIRST = 100_000_000;
/** Length of a key, in bytes. */
export const KEY_LENGTH = 26;

/**
 * Returns keys that look like a controller's, such as `namespace-7/name-100012347`. Each key has {@linkcode KEY_LENGTH}
 * bytes.
 */
export function keys(count: number, from = 0): string[] {
  return Array.from({ length: count }, (_, i) => `namespace-${(from + i) % 10}/name-${FIRST + from + i}`);
}

/** Number of items per call, for contenders that can add several items in one call. */
export const BULK = 100;
