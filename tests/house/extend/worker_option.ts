import { insertAfter, type Recipe } from "./recipe.ts";

/** Option of a pool: the minimum delay of its retries, which a reload changes. */
export const workerOption: Recipe = {
  heading: "Add an option of a queue or a pool",
  name: "leastDelay",
  steps: [
    {
      path: "lib/contracts/workers.ts",
      round: "lists",
      says: "leastDelay",
      edits: [insertAfter(
        "  maxRetries?: number | undefined;\n",
        "  /** Minimum delay of a retry. By default, the limiter alone sets the delay. */\n" +
          "  leastDelay?: Duration | undefined;\n",
      )],
    },
    {
      path: "config/queue_options.ts",
      round: "entries",
      says: "config/contents.ts",
      edits: [insertAfter(
        'description: "Maximum number of retries before a failed item is given up. No limit if omitted.",\n  },\n',
        `  leastDelay: {
    serves: "pool",
    inForce: "now",
    kind: "duration",
    min: 1,
    max: MAX_TIMEOUT as number,
    required: false,
    description: "Minimum delay of a retry. The limiter alone sets the delay if omitted.",
  },
`,
      )],
    },
    {
      path: "docs/generate/config_reference.ts",
      round: "lists",
      says: "docs/generate/config_reference.ts",
      edits: [insertAfter(
        '  maxRetries: "Applies from the next failure on. Given-up items stay given up.",\n',
        '  leastDelay: "Applies from the next failure on. Existing delays stay.",\n',
      )],
    },
    {
      path: "lib/workers/settings.ts",
      round: "entries",
      says: "lib/workers/settings.ts",
      edits: [
        insertAfter("  maxRetries: number;\n", "  leastDelay: number;\n"),
        insertAfter("    maxRetries: A_COUNT,\n", "    leastDelay: timeoutRule(),\n"),
        [
          "({ concurrency = 1, maxRetries = Infinity, timeout, throttle }: PoolChanges): LiveSettings {\n  return {",
          "(\n  { concurrency = 1, maxRetries = Infinity, leastDelay = 0, timeout, throttle }: PoolChanges,\n" +
          "): LiveSettings {\n  return { leastDelay: parseDuration(leastDelay),",
        ],
      ],
    },
    {
      path: "lib/workers/outcome.ts",
      round: "tests",
      says: "'leastDelay' of a pool has an effect ... FAILED",
      edits: [
        insertAfter("  readonly maxRetries: number;\n", "  readonly leastDelay: number;\n"),
        [
          'kind: "failed", error, minDelay }',
          'kind: "failed", error, minDelay: Math.max(this.#rules.leastDelay, minDelay) }',
        ],
      ],
    },
    {
      path: "tests/workers/every_option_test.ts",
      round: "entries",
      says: "tests/workers/every_option_test.ts",
      edits: [insertAfter("  maxRetries: { value: () => 1 },\n", "  leastDelay: { value: () => 50 },\n")],
    },
  ],
};
