import { MAX_TIMEOUT } from "../lib/base/clock.ts";
import type { Fields } from "../registry/fields.ts";

/** The options of a queue in a config document. */
export const queueOptions = {
  limiter: {
    kind: "limiter",
    required: false,
    description:
      "How long failed items wait; client-go's default controller limiter if left out. The delay is given at the failure: what waits already does not feel a change, that is what 'starts' is for.",
  },
  maxWait: {
    kind: "duration",
    min: 1,
    max: MAX_TIMEOUT as number,
    required: false,
    description: "The longest time until deadlines are looked at again; ten seconds if left out.",
  },
  whileWaiting: {
    kind: "enum",
    values: ["keep", "replace"],
    required: false,
    description:
      'What happens to an item that is added while it waits: "keep", and it comes now and again when it is due; or "replace", and it comes once, now. "keep" if left out.',
  },
  discipline: {
    kind: "discipline",
    template: true,
    required: false,
    description: "Which of the items that are ready is next; first in, first out if left out.",
  },
  starts: {
    kind: "bucket",
    required: false,
    description:
      "How often attempts may begin, first ones and retries; as often as the workers can if left out. The throttle that works at once, on what waits already too.",
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
    max: MAX_TIMEOUT as number,
    required: false,
    description: "How long one attempt may take; as long as it likes if left out.",
  },
} as const satisfies Fields<"limiter" | "discipline" | "bucket">;
