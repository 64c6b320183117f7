/**
 * Redrive: a job that adds given-up keys again, the oldest first. Any call of any process takes the next step when it
 * is due, so the job survives the process that began it.
 *
 * @module
 */

import type { EngineRedrive, KeptSelection } from "@workqueue/engine";
import { matcherOf, nextRedriveAt } from "@workqueue/core/internal/policy";
import { addNow } from "./arrivals.ts";
import type { GivenUpRow } from "./given_up_keys.ts";
import type { Queue } from "./queue.ts";
import type { RedriveState } from "./state.ts";
import { FAR } from "./time.ts";

/** Maximum number of keys that one step checks. */
const BATCH = 200;
/** Time, in microseconds, for which a job that is late adds faster. */
const CATCH_UP = 1_000_000;
/** Shortest time between two steps of a job with a rate, in microseconds. */
const PAUSE = 20_000;

/** Begins a job. Returns `undefined` if another job runs. */
export function beginRedrive(
  queue: Queue,
  { search, keys }: KeptSelection,
  rate: number | undefined,
): EngineRedrive | undefined {
  const { sql, state, now, queue: id } = queue.tx;
  if (state.redrive?.stepAt !== undefined) return undefined;
  for (const key of keys ?? []) {
    sql.run(
      "INSERT OR IGNORE INTO redrive_keys (queue, at) SELECT queue, at FROM given_up WHERE queue = ? AND key = ?",
      id,
      key,
    );
  }
  const isListed = keys !== undefined;
  state.redrive = {
    search,
    isListed,
    ...rate !== undefined && { rate },
    until: now,
    position: 0,
    next: now,
    redriven: 0,
    left: 0,
    stepAt: now,
  };
  state.redrive.left = countLeft(queue, state.redrive);
  step(queue, state.redrive);
  queue.waking.wakeForReady();
  queue.waking.plan();
  return progressOf(queue, state.redrive);
}

/** Takes the next step of the job, if it is due. */
export function continueRedrive(queue: Queue): void {
  const { redrive } = queue.tx.state;
  if (redrive?.stepAt !== undefined && redrive.stepAt <= queue.tx.now) step(queue, redrive);
}

/** Returns the progress of the job that runs, or of the last one; `undefined` if there was none. */
export function redriveProgress(queue: Queue): EngineRedrive | undefined {
  const { redrive } = queue.tx.state;
  if (redrive?.stepAt !== undefined) redrive.left = countLeft(queue, redrive); // others may have added keys again
  return redrive && progressOf(queue, redrive);
}

/** Stops the job. Keys that it has not added stay given up. */
export function stopRedrive(queue: Queue): EngineRedrive | undefined {
  const { redrive } = queue.tx.state;
  if (redrive?.stepAt !== undefined) end(queue, redrive, countLeft(queue, redrive));
  return redrive && progressOf(queue, redrive);
}

function progressOf({ tx }: Queue, { redriven, left, stepAt }: RedriveState): EngineRedrive {
  const running = stepAt !== undefined;
  return { redriven, left, running, pauseMs: running ? Math.max(stepAt - tx.now, 0) / 1000 : undefined };
}

function step(queue: Queue, job: RedriveState): void {
  const { tx } = queue;
  const { rate, search, until } = job;
  const isChosen = matcherOf(search);
  const page = tx.sql.all<GivenUpRow>(
    `SELECT * FROM ${sourceOf(job)} ORDER BY job.at LIMIT ?`,
    tx.queue,
    job.position,
    until,
    BATCH + 1,
  );
  let checked = 0;
  for (const row of page.slice(0, BATCH)) {
    if (rate !== undefined && job.next > tx.now) break;
    checked++;
    job.position = row.at;
    if (!isChosen(row)) continue;
    const item = tx.item(row.key);
    item.payload = row.payload;
    addNow(queue, item, { replaces: true, folds: false }, 0);
    job.redriven++;
    if (rate !== undefined) job.next = Math.min(nextRedriveAt(job.next, tx.now, 1_000_000 / rate, CATCH_UP), FAR);
  }
  if (checked === page.length) return end(queue, job, 0);
  const isPaced = rate !== undefined && job.next > tx.now;
  job.left = Math.max(job.left - checked, page.length - checked); // the count would take long in each step
  job.stepAt = isPaced ? Math.ceil(Math.max(job.next, tx.now + PAUSE)) : tx.now;
}

function end({ tx }: Queue, job: RedriveState, left: number): void {
  job.left = left;
  delete job.stepAt;
  tx.sql.run("DELETE FROM redrive_keys WHERE queue = ?", tx.queue);
}

function countLeft({ tx }: Queue, job: RedriveState): number {
  return tx.sql.get<{ count: number }>(
    `SELECT COUNT(*) AS count FROM ${sourceOf(job)}`,
    tx.queue,
    job.position,
    job.until,
  )!.count;
}

/** Returns the keys of a job. Its parameters are the id of the queue, and the times after which and until which. */
function sourceOf({ isListed }: RedriveState): string {
  const keys = isListed ? "redrive_keys AS job CROSS JOIN given_up USING (queue, at)" : "given_up AS job";
  return `${keys} WHERE job.queue = ? AND job.at > ? AND job.at <= ?`;
}
