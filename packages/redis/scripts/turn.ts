import type { FinishAnswer, FinishKind } from "@workqueue/engine";
import { declareScript } from "./declare.ts";
import { lua } from "./lua_files.ts";
import {
  type Argument,
  DECIMAL,
  DURATION,
  fields,
  FLAG,
  list,
  NUMBER,
  optional,
  type ReplyField,
  rows,
  TEXT,
} from "./fields.ts";

const KIND = TEXT as Argument<FinishKind>;

const ANSWER: ReplyField<FinishAnswer> = {
  read(sent) {
    if (typeof sent !== "number") return Number((sent as number[])[0]);
    return sent === 2 ? "cancelled" : sent === 1;
  },
};

/** Ends the work on the given keys, and takes other keys. Each row is a key whose work has ended. */
export const turn = declareScript({
  retry: "marked",
  functions: lua("limiters"),
  args: {
    process: TEXT,
    owner: TEXT,
    leaseMs: DURATION,
    replaces: FLAG,
    folds: FLAG,
    retriesFirst: FLAG,
    hasItems: FLAG,
    maxStalls: NUMBER,
    /**
     * Number of leases that the owner believes it has, not counting leases that end in this call or in another call
     * that is still running.
     */
    known: NUMBER,
    wanted: NUMBER,
    /** Whether the process works on keys of other partitions. */
    isBusyElsewhere: FLAG,
    /** Bucket from which each attempt takes a token, if any. */
    bucketId: optional(TEXT),
    bucketRate: optional(NUMBER),
    bucketBurst: optional(NUMBER),
    /** Rules for counting failures, as JSON. */
    rules: TEXT,
    /** Whether the reply must include how long each taken key had been ready. */
    wantsTimes: FLAG,
    /** Whether the owner wants to be told of adds of its keys. */
    tellsAdds: FLAG,
    /** Time for which outcomes of waits are kept. One minute by default. */
    keepOutcomesMs: optional(DURATION),
  },
  rows: {
    key: TEXT,
    token: TEXT,
    kind: KIND,
    /** Delay for "requeueAfter", or minimum delay for "retry" and "failed". */
    delayMs: DURATION,
    /** Input for "retry" and "failed", or reason code for "givenUp". */
    given: TEXT,
    /** Error for "givenUp", "retry" or "failed", or outcome of the waits for "succeeded". Can be empty. */
    reason: TEXT,
    /** Priority for "requeueAfter" and "retry". By default, the key keeps its priority. */
    priority: optional(DECIMAL),
    /** Number of the attempt for "givenUp". By default, the number of failures plus one. */
    attempts: optional(NUMBER),
    /** Maximum number of retries for "givenUp", if the key is retried when it has fewer failures. */
    maxRetries: optional(NUMBER),
  },
  reply: fields({
    /** Time until more keys may be available. Missing if no such time is known. */
    pauseMs: optional(DURATION),
    /** Whether the queue is paused. */
    isPaused: FLAG,
    /** Whether the owner has lost all of its leases. */
    isLost: FLAG,
    /** Whether the owner has the duty to try suspects. If so, the owner takes no other keys. */
    isAlone: FLAG,
    /** One answer per row. */
    answers: list(ANSWER),
    taken: rows({
      key: TEXT,
      token: TEXT,
      payload: optional(TEXT),
      failures: NUMBER,
      /** Missing if no key of the queue ever had a priority. */
      priority: optional(DECIMAL),
      /** Traceparent of the newest add, if it had one. Missing if no key of the queue ever had one. */
      trace: optional(TEXT),
      /** Time for which the key had been ready. Present only if `wantsTimes` is true. */
      readyForMs: optional(DURATION),
      /** Whether there are waits for the key. Missing if no key of the queue is awaited. */
      isAwaited: optional(FLAG),
    }),
    /** Keys that this call gave up because they stalled too often. */
    givenUp: rows({ key: TEXT, payload: TEXT, attempts: NUMBER }),
  }),
  body: lua("turn"),
});
