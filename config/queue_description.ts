import type { DisciplineDescription } from "../disciplines/definition.ts";
import type { LimiterDescription } from "../limiters/definition.ts";

/** A queue of a document as data, lengths of time in milliseconds. What the document leaves out is absent. */
export interface QueueDescription {
  /** The name of the queue. */
  readonly name: string;
  /** How long failed items wait; the default controller limiter if the document names none. */
  readonly limiter: LimiterDescription;
  /** The longest time until deadlines are looked at again. */
  readonly maxWait?: number;
  /** What happens to an item that is added while it waits. */
  readonly whileWaiting?: "keep" | "replace";
  /** Which of the items that are ready is next. */
  readonly discipline?: DisciplineDescription;
  /** How often attempts may begin. */
  readonly starts?: BucketDescription;
  /** How many items are worked on at once. */
  readonly concurrency?: number;
  /** How many times an item that fails is tried again until it is given up. */
  readonly maxRetries?: number;
  /** How long one attempt may take. */
  readonly timeout?: number;
}

/** A token bucket of a document, as data. */
export interface BucketDescription {
  /**
   * Where the bucket is described: a JSON Pointer into the document. It identifies the bucket: the limiter and the queues
   * that take their tokens from the same one have the same path.
   */
  readonly path: string;
  /** The name that the document gives to the bucket, or to the limiter that it belongs to; absent without one. */
  readonly name?: string;
  /** Tokens a second. */
  readonly rate: number;
  /** How many tokens the bucket holds. */
  readonly burst: number;
}
