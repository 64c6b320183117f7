/** Actions on given-up items: `redrive`, `stop-redrive` and `discard`. */

import { formatNumber, inspect } from "@workqueue/core/internal";
import type { ControlResult, RedriveState } from "../api.ts";
import { Refusal } from "../http/answers.ts";
import type { GivenUpItems, GivenUpSelection } from "../watch/given_up.ts";
import { many } from "../watch/texts.ts";
import type { WatchedQueue } from "../watch/watched_queue.ts";
import { readBody } from "./bodies.ts";

const MEMBERS = ["key", "error", "search"] as const;

/** Adds selected given-up items again. */
export async function redrive(queue: WatchedQueue, body: string): Promise<ControlResult> {
  const { preview, rate, ...selection } = readSelection("redrive", body, ["rate"]);
  if (rate === 0) throw new Refusal(422, "Cannot redrive: 'rate' must be more than 0, or \"unlimited\", got 0");
  const givenUp = givenUpOf(queue);
  if (preview) return await previewed(givenUp, selection);
  if (await givenUp.isRedriving()) {
    throw new Refusal(422, "Nothing was done: a redrive of this queue is running. Stop it, or wait until it ends.");
  }
  const options = await optionsFor(givenUp, selection);
  const state = await givenUp.redrive({ ...options, rate: rate === "unlimited" ? undefined : rate });
  return { message: begun(state), done: state.redriven };
}

/** Stops the running redrive. */
export async function stopRedrive(queue: WatchedQueue, body: string): Promise<ControlResult> {
  readBody("stop redrive", body, []);
  const state = await givenUpOf(queue).stopRedrive();
  if (state === null) return { message: "No redrive is running: nothing was done." };
  return { message: `The redrive is stopped: ${added(state)}, and the others are still given up.` };
}

/** Forgets selected given-up items. */
export async function discard(queue: WatchedQueue, body: string): Promise<ControlResult> {
  const { preview, ...selection } = readSelection("discard", body);
  const givenUp = givenUpOf(queue);
  if (preview) return await previewed(givenUp, selection);
  const done = await givenUp.discard(await optionsFor(givenUp, selection));
  const message = done === 0
    ? "No given-up item matches: nothing was done."
    : `${many(done, "given-up item")} ${done === 1 ? "is" : "are"} discarded.`;
  return { message, done };
}

function givenUpOf({ givenUp }: WatchedQueue): GivenUpItems {
  if (givenUp === undefined) {
    throw new Refusal(422, "The queue keeps no given-up items: set its option 'keepGivenUp'.");
  }
  return givenUp;
}

function readSelection(action: string, text: string, optional: readonly "rate"[] = []) {
  const body = readBody(action, text, MEMBERS, [...optional, "preview"]);
  const { key, error, search } = body;
  if (key !== undefined && (error !== undefined || search !== undefined)) {
    const other = error === undefined ? "search" : "error";
    throw new Refusal(422, `Cannot ${action}: the body has both 'key' and '${other}'`);
  }
  return body;
}

/** Returns the selection in the terms of the queue, which doesn't know texts and groups of errors. */
async function optionsFor(
  givenUp: GivenUpItems,
  { key, error, search }: GivenUpSelection,
): Promise<{ search?: string | undefined; keys?: unknown[] }> {
  if (key === undefined && error === undefined) return { search };
  const keys = await givenUp.select({ key, error, search });
  if (key !== undefined && keys.length > 1) {
    throw new Refusal(
      422,
      `Nothing was done: ${formatNumber(keys.length)} given-up items have this text. ` +
        "Search for it to act on all of them, or use 'keyText' to tell them apart.",
    );
  }
  if (key !== undefined && keys.length === 0) {
    throw new Refusal(422, `Nothing was done: ${inspect(key)} is not given up, or no longer.`);
  }
  return { keys };
}

async function previewed(givenUp: GivenUpItems, selection: GivenUpSelection): Promise<ControlResult> {
  const { key, error, search } = selection;
  const isAll = key === undefined && error === undefined && search === "";
  const others = isAll ? await givenUp.count() : (await givenUp.select(selection)).length;
  const message = `${others === 0 ? "No given-up item" : many(others, "given-up item")}.`;
  return { message, matched: { failing: 0, others }, done: 0 };
}

function begun(state: RedriveState): string {
  const { redriven, left, running, rate } = state;
  if (!running) return redriven === 0 ? "No given-up item was added again." : `The redrive is done: ${added(state)}.`;
  const pace = rate === null ? "" : `, at most ${formatNumber(rate)} a second`;
  return `The redrive has begun${pace}: ${added(state)}, ${formatNumber(left)} left to check.`;
}

function added({ redriven }: RedriveState): string {
  return `${many(redriven, "item")} ${redriven === 1 ? "was" : "were"} added again`;
}
