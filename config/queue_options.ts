import { MAX_TIMEOUT } from "../lib/base/clock.ts";
import type { LimiterFields } from "../limiters/definition.ts";

/** The options of a queue in a config document. */
export const queueOptions = {
  limiter: {
    kind: "limiter",
    required: false,
    description: "How long failed items wait; client-go's default controller limiter if left out.",
  },
  maxWait: {
    kind: "duration",
    min: 1,
    max: MAX_TIMEOUT,
    required: false,
    description: "The longest time until deadlines are looked at again; ten seconds if left out.",
  },
  concurrency: {
    kind: "integer",
    min: 1,
    required: false,
    description: "How many items are worked on at once; one if left out.",
  },
  maxRetries: {
    kind: "integer",
    min: 0,
    required: false,
    description: "How many times an item that fails is tried again until it is given up; without end if left out.",
  },
  timeout: {
    kind: "duration",
    min: 1,
    max: MAX_TIMEOUT,
    required: false,
    description: "How long one attempt may take; as long as it likes if left out.",
  },
} as const satisfies LimiterFields;
