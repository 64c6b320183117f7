/** Actions on selected delayed items: `retry` and `take-back`. */

import { systemClock } from "@workqueue/core";
import { formatNumber, inspect } from "@workqueue/core/internal";
import type { ControlResult } from "../api.ts";
import { Refusal } from "../http/answers.ts";
import type { Selection } from "../watch/selection.ts";
import { nextSlice } from "../watch/slices.ts";
import type { DelayedLook } from "../watch/source.ts";
import { many } from "../watch/texts.ts";
import type { Selected, WatchedQueue } from "../watch/watched_queue.ts";
import { readBody } from "./bodies.ts";

/** Makes the selected delayed items and blocked retries ready. Their failures stay counted. */
export async function retry(queue: WatchedQueue, body: string): Promise<ControlResult> {
  if (queue.source.cannotRetry !== undefined) throw new Refusal(422, queue.source.cannotRetry);
  return await forEach("retry", queue, body, "ready now", (item) => queue.source.retry(item));
}

/** Removes the selected delayed items and forgets their failures. */
export async function takeBack(queue: WatchedQueue, body: string): Promise<ControlResult> {
  const result = "taken back, and will not run unless added again";
  return await forEach("take back", queue, body, result, (item) => queue.takeBack(item));
}

type Act = (item: DelayedLook) => Promise<boolean>;

const MEMBERS = ["key", "search", "failing", "error", "group"] as const satisfies readonly (keyof Selection)[];

async function forEach(
  action: string,
  queue: WatchedQueue,
  text: string,
  result: string,
  act: Act,
): Promise<ControlResult> {
  const { selection, preview } = readSelection(action, text);
  const { key } = selection;
  const selected = await queue.select(selection, action === "retry");
  const { items } = selected;
  if (key !== undefined && items.length > 1) throw new Refusal(422, ambiguous(items.length));
  const matched = { failing: selected.failing, others: items.length - selected.failing };
  const numbers = { matched, notChecked: key === undefined ? selected.more : 0 };
  if (preview) return { message: previewed(selected), ...numbers, done: 0 };
  const done = await doAll(items, act, queue.source.engine === "memory" ? 1 : AT_ONCE);
  return { message: done === 0 ? nothing(key, selected) : some(done, key, selected, result), ...numbers, done };
}

/** Reads a selection of items, and whether the items are only to be counted. */
function readSelection(action: string, text: string): { selection: Selection; preview: boolean } {
  const { preview = false, ...selection } = readBody(action, text, MEMBERS, ["preview"]);
  const [first, second] = MEMBERS.filter((name) => selection[name] !== undefined);
  if (first === "key" && second !== undefined) {
    throw new Refusal(422, `Cannot ${action}: the body has both 'key' and '${second}'`);
  }
  return { selection, preview };
}

/** Maximum number of concurrent calls to an engine. */
const AT_ONCE = 50;

/** Acts on up to `atOnce` items at once, and counts successes. */
async function doAll(items: readonly DelayedLook[], act: Act, atOnce: number): Promise<number> {
  let done = 0;
  let beganAt = systemClock.now();
  for (let from = 0; from < items.length; from += atOnce) {
    const settled = await Promise.all(items.slice(from, from + atOnce).map(act));
    done += settled.filter(Boolean).length;
    beganAt = await nextSlice(beganAt);
  }
  return done;
}

/**
 * Returns the error message for a request whose key matches several delayed items. A request for one item must not act
 * on several items.
 */
function ambiguous(number: number): string {
  return `Nothing was done: ${formatNumber(number)} delayed items have this text. ` +
    "Search for it to act on all of them, or use 'keyText' to tell them apart.";
}

/** Says how many items of which kind are selected. */
function previewed({ items, failing, more }: Selected): string {
  const others = items.length - failing;
  const kinds = [
    ...(failing > 0 ? [many(failing, "failing item")] : []),
    ...(others > 0 ? [many(others, "item") + " delayed without a failure"] : []),
  ];
  return `${kinds.length === 0 ? "No delayed item" : kinds.join(" and ")}.${more === 0 ? "" : ` ${notChecked(more)}`}`;
}

function nothing(key: string | undefined, { lookedAt, more }: Selected): string {
  const among = `among the ${formatNumber(lookedAt)} items checked, and ${delayed(more)}`;
  const [nothing, nothingThere] = key === undefined
    ? ["No delayed item matches", `Nothing matches ${among}`]
    : [`${inspect(key)} is not delayed`, `${inspect(key)} is not ${among}`];
  return `${more === 0 ? nothing : nothingThere}: nothing was done.`;
}

function some(done: number, key: string | undefined, { items, more }: Selected, result: string): string {
  const all = done === items.length ? many(done, "item") : `${formatNumber(done)} of ${many(items.length, "item")}`;
  const missed = done === items.length ? "" : " The others were no longer delayed.";
  const rest = key !== undefined || more === 0 ? "" : ` ${notChecked(more)}`;
  return `${all} ${items.length === 1 ? "is" : "are"} ${result}.${missed}${rest}`;
}

function notChecked(more: number): string {
  return `${delayed(more)} and ${more === 1 ? "was" : "were"} not checked.`;
}

function delayed(more: number): string {
  return `${formatNumber(more)} more ${more === 1 ? "item is" : "items are"} delayed`;
}
