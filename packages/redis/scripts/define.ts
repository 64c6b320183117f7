import type { RetryBudgetOptions } from "@workqueue/core";
import { declareScript } from "./declare.ts";
import { lua } from "./lua_files.ts";
import { DECIMAL, DURATION, fields, FLAG, NUMBER, optional, TEXT } from "./fields.ts";

/** Options of a retry budget. */
const BUDGET = {
  ratio: optional(DECIMAL),
  minRate: optional(DECIMAL),
} satisfies Record<keyof RetryBudgetOptions, unknown>;

/** Definition without parts. */
export const NOT_DEFINED = {
  plan: undefined,
  ratio: undefined,
  minRate: undefined,
  max: undefined,
  maxAgeMs: undefined,
  expireMs: undefined,
} as const;

/**
 * Puts a definition in force: all settings that a process has for the whole queue. A part that is not given stays as it
 * is, and so does a part that is in force already. Each row is the weight of a group of the discipline.
 *
 * With another discipline, this call and the next turns add the ready keys to the new order. If a retry budget suffices
 * for a blocked retry, an idle process is woken.
 */
export const define = declareScript({
  args: {
    /** Plan of the discipline, as for `ordered`. */
    plan: optional(TEXT),
    ...BUDGET,
    /** Limits on given-up keys. With a number and without an age, there is no limit on the age. */
    max: optional(NUMBER),
    maxAgeMs: optional(DURATION),
    /** Time without calls after which the keys of an empty queue expire. */
    expireMs: optional(DURATION),
  },
  rows: { group: TEXT, weight: DECIMAL },
  reply: fields({
    /** Time since which the queue is on the server, as text. */
    born: TEXT,
    /** Time without calls after which the keys of an empty queue expire. */
    expireAfterMs: DURATION,
    /** Whether there may be more given-up keys over the limits. */
    isMore: FLAG,
  }),
  body: lua("define"),
});
