/** Interface of the contenders. The same measurements fit all of them. */

/**
 * Opens a session with the named queue on a server. `payload` is the number of characters in addition to the key; 0
 * means keys alone.
 */
export type Contender = (options: { url: string; queue: string; payload: number }) => Promise<Session>;

/** Connected queue in one process. Items are identified by their keys. */
export interface Session extends AsyncDisposable {
  add(key: string): Promise<unknown>;
  addAfter(key: string, ms: number): Promise<unknown>;
  addAll(keys: string[]): Promise<unknown>;
  /** Connects workers that process `concurrency` items at once. The handler returns at once. */
  openWorkers(concurrency: number, handler: (key: string) => void): Promise<Workers>;
  /** Takes one ready item by hand and finishes it, as a worker does. */
  takeAndFinish(): Promise<void>;
  /** Returns the number of unfinished items. */
  left(): Promise<number>;
}

export interface Workers {
  start(): void;
  /** Takes no more items. Resolves when all running handlers have finished. */
  stop(): Promise<unknown>;
}

/** Our name in the tables. */
export const OURS = "@workqueue/redis";

/** The peer's name in the tables. */
export const BULLMQ = "BullMQ";

const FIRST = 100_000_000;
/** Length of a key, in bytes. */
export const KEY_LENGTH = 26;

/** Returns keys as a controller has them: `namespace-7/name-100012347`, all of {@linkcode KEY_LENGTH} bytes. */
export function keys(count: number, from = 0): string[] {
  return Array.from({ length: count }, (_, i) => `namespace-${(from + i) % 10}/name-${FIRST + from + i}`);
}

/** Item with a payload. */
export interface Item {
  key: string;
  text: string;
}

/** Number of items per call, if a contender can add several in one call. */
export const BULK = 100;
