/**
 * Makes consoles and string conversion show queues, leases, pools and token buckets on one line each. Import this
 * module for its effect; it exports nothing. Only programs that import it contain its code.
 *
 * @example Usage
 * ```ts
 * import "@workqueue/core/inspect";
 * import { createWorkQueue } from "@workqueue/core";
 * import { assertEquals } from "@std/assert";
 *
 * const queue = createWorkQueue<string>({ name: "images" });
 * queue.add("a.jpg");
 * assertEquals(String(queue), 'WorkQueue "images": 1 ready, 0 processing'); // as `console.log(queue)` prints it
 * ```
 *
 * @module
 */

export type { Clock } from "../base/clock.ts"; // without an export, the published types are not a module
import { inspect } from "../base/errors.ts";
import { systemClock } from "../base/clock.ts";
import { formatDuration, formatNumber, setInspection } from "../base/inspection.ts";
import type { DelayingQueue } from "../contracts/delaying_queue.ts";
import type { WorkQueue } from "../contracts/work_queue.ts";
import { AGAIN } from "../queue/positions.ts";
import { RecordLease } from "../queue/record_queue.ts";
import { ServedQueue } from "../queue/served_queue.ts";
import { TokenBucket } from "../tokens/token_bucket.ts";
import { MAX_FAILURES } from "../workers/reports.ts";
import { Pool } from "../workers/pool.ts";
import { failuresOf, type ViewedPool } from "../workers/view.ts";
import { inspectionOf } from "./queue_inspection.ts";

setInspection<ServedQueue<unknown>>(
  ServedQueue.prototype,
  titleOfEach(ServedQueue.prototype),
  (queue) => describeQueue(queue, ...("addAfter" in queue ? [describeDelayed(queue as never)] : [])),
);

setInspection<RecordLease<unknown>>(RecordLease.prototype, ({ key }) => `Lease ${inspect(key)}`, (lease) => {
  const { position } = lease;
  const state = position === AGAIN ? "processing, added again" : position === 0 ? "done" : "processing";
  return lease.priority === 0 ? state : `${state}, priority ${lease.priority}`;
});

setInspection<Pool<unknown>>(Pool.prototype, titleOfEach(Pool.prototype), ({ view }) => describePool(view));

setInspection<TokenBucket>(TokenBucket.prototype, () => "TokenBucket", (bucket) => {
  const rate = bucket.rate === Infinity ? "any number" : formatNumber(bucket.rate);
  const tokens = `${formatNumber(bucket.tokens)} of ${formatNumber(bucket.burst)} tokens, ${rate} a second`;
  return bucket.resumesInMs > 0 ? `${tokens}, paused for ${formatDuration(bucket.resumesInMs)}` : tokens;
});

/** Returns a function that returns an object's title: its text while this module is not imported. */
function titleOfEach(prototype: object): (object: object) => string {
  const { toString } = prototype;
  return (object) => toString.call(object);
}

function describeQueue(queue: WorkQueue<unknown>, ...delayed: string[]): string {
  const { length, processing, shuttingDown } = queue;
  const { blocked } = queue.snapshot({ limit: 0 });
  const parts = [`${formatNumber(length)} ready`];
  const retries = inspectionOf(queue)?.blockedRetries?.retries.length ?? 0;
  const why = retries > 0 ? ` (${formatNumber(retries)} by the retry budget)` : "";
  if (blocked > 0) parts.push(`${formatNumber(blocked)} blocked${why}`);
  parts.push(...delayed, `${formatNumber(processing)} processing`);
  if (shuttingDown) parts.push("shutting down");
  return parts.join(", ");
}

/** Describes how many items are delayed, and when the next one is due. */
function describeDelayed(queue: DelayingQueue<unknown>): string {
  const dueAt = inspectionOf(queue)?.nextDueAt();
  const next = dueAt === undefined
    ? ""
    : ` (next in ${formatDuration(Math.max(dueAt - (queue.clock ?? systemClock).now(), 0))})`;
  return `${formatNumber(queue.delayed)} delayed${next}`;
}

function describePool(pool: ViewedPool<unknown>): string {
  const { active, abandoned, settings: { concurrency, throttle }, state } = pool;
  const parts = [`${formatNumber(active)} of ${formatNumber(concurrency)} handlers running`];
  if (abandoned > 0) parts.push(`${formatNumber(abandoned)} of them abandoned`);
  if (state !== "open") parts.push(state === "stopping" ? "stopped" : state);
  if (pool.source.isPaused) parts.push("the queue is paused");
  const allows = throttle?.snapshot?.().state;
  if (allows) parts.push(`throttle ${allows}`);
  const listed = failuresOf(pool, MAX_FAILURES);
  const [latest] = listed;
  if (latest !== undefined) {
    const known = pool.source.failing;
    const failing = known === "unknown" ? listed.length : known;
    const isMore = known === "unknown" && failing === MAX_FAILURES;
    const keys = failing === 1 ? "1 key" : `${formatNumber(failing)}${isMore ? " or more" : ""} keys`;
    parts.push(`${keys} failing (latest: ${inspect(latest.key)}, attempt ${latest.attempts}: ${latest.error})`);
  }
  return parts.join(", ");
}
