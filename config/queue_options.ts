import { MAX_TIMEOUT } from "../lib/base/clock.ts";
import type { Field } from "../registry/fields.ts";

/**
 * Declaration of a queue option. All other code for the option is derived from this declaration, or fails to compile if
 * it contradicts the declaration.
 */
interface Declaration {
  /** Consumer of the option: the queue, or the pools that process its items. */
  readonly serves: "queue" | "pool";
  /**
   * Time at which a changed option takes effect: `"now"`, or `"nextStart"` for queues and pools that are created later.
   */
  readonly inForce: "now" | "nextStart";
  /** Whether existing queues stay as they are if the option is added or removed, although `inForce` is `"now"`. */
  readonly stays?: true;
}

/** Options of a queue in a config document, each declared once. */
export const queueOptions = {
  limiter: {
    serves: "queue",
    inForce: "now",
    kind: "limiter",
    required: false,
    description:
      "Limiter that sets the delays of failed items. Default: client-go's controller limiter. A delay is set at the failure, so a change does not affect items that are already delayed. To slow delayed items too, use 'throttle'.",
  },
  maxSleep: {
    serves: "queue",
    inForce: "nextStart",
    kind: "duration",
    min: 1,
    max: MAX_TIMEOUT as number,
    required: false,
    description:
      "Longest sleep between two checks of deadlines. After a suspend, an item is late by at most this. Default: ten seconds.",
  },
  addWhileDelayed: {
    serves: "queue",
    inForce: "nextStart",
    kind: "enum",
    values: ["keep", "replace", "fold"],
    required: false,
    description:
      'Effect of adding an item that is already delayed: "keep" (the default) hands it out now, and again when its delay ends; "replace" hands it out once, now; "fold" hands it out once, now or, if it failed, when its retry is due.',
  },
  forgetAfter: {
    serves: "queue",
    inForce: "now",
    stays: true,
    kind: "duration",
    required: false,
    description:
      "Time from the end of an item's last delay until its failures are forgotten. Never if omitted. Must be longer than the time from the end of a delay until the end of the attempt after it; otherwise, every failure counts as the first.",
  },
  retryBudget: {
    serves: "queue",
    inForce: "now",
    stays: true,
    kind: "retryBudget",
    required: false,
    description:
      "Budget for retries: 'ratio' retries for each first attempt of the last ten seconds, and 'minRate' retries per second. A retry without budget is blocked. No limit if omitted.",
  },
  keepGivenUp: {
    serves: "queue",
    inForce: "now",
    stays: true,
    kind: "retention",
    required: false,
    description:
      "Number of given-up items to keep, the newest; or an object with this number as 'max', and a 'maxAge'. The program or the dashboard can add kept items again. None are kept if omitted.",
  },
  discipline: {
    serves: "queue",
    inForce: "nextStart",
    kind: "discipline",
    template: true,
    required: false,
    description: "Order in which ready items are handed out. First in, first out if omitted.",
  },
  throttle: {
    serves: "pool",
    inForce: "now",
    kind: "throttle",
    required: false,
    description:
      "Throttle that decides whether an attempt may start, first attempts and retries alike. No limit if omitted. A change takes effect at once, also for delayed items.",
  },
  concurrency: {
    serves: "pool",
    inForce: "now",
    kind: "integer",
    min: 1,
    required: false,
    description: "Maximum number of items worked on at once. Default: one.",
  },
  maxRetries: {
    serves: "pool",
    inForce: "now",
    kind: "integer",
    min: 0,
    required: false,
    description: "Maximum number of retries before a failed item is given up. No limit if omitted.",
  },
  timeout: {
    serves: "pool",
    inForce: "now",
    kind: "duration",
    min: 1,
    max: MAX_TIMEOUT as number,
    required: false,
    description: "Maximum duration of one attempt. No limit if omitted.",
  },
} as const satisfies Readonly<Record<string, Declaration & Field<"limiter" | "discipline" | "throttle">>>;

type Options = typeof queueOptions;

/**
 * Names of the options for queues or for pools. If `When` is given, only options whose changes take effect at that
 * time.
 */
type OptionFor<Who extends Declaration["serves"], When extends Declaration["inForce"] = Declaration["inForce"]> = {
  [K in keyof Options]: Options[K] extends { serves: Who; inForce: When } ? K : never;
}[keyof Options];

/**
 * Lists the options for queues or for pools. If `when` is given, lists only options whose changes take effect at that
 * time.
 */
export function optionsFor<
  Who extends Declaration["serves"],
  When extends Declaration["inForce"] = Declaration["inForce"],
>(who: Who, when?: When): OptionFor<Who, When>[] {
  const entries = Object.entries<Declaration>(queueOptions);
  const chosen = entries.filter(([, { serves, inForce }]) => serves === who && (when ?? inForce) === inForce);
  return chosen.map(([option]) => option as OptionFor<Who, When>);
}

/**
 * Options that documents must be able to supply: all options in `Given` except those in `InCode`, which can only be set
 * in code. An option that is added to `Given` must be declared for documents or listed in `InCode`.
 */
export type FromDocument<Given, InCode extends keyof Given> = {
  [K in Exclude<keyof Given, InCode>]-?: Given[K] | undefined;
};
