import { insertAfter, type Recipe } from "./recipe.ts";

/** Field of the snapshots of queues outside the process: whether the queue has a retry budget. */
export const snapshotField: Recipe = {
  heading: "Add a field of snapshots",
  name: "hasBudget",
  steps: [
    {
      path: "packages/redis/scripts/snapshot.ts",
      round: "entries",
      says: "packages/redis/engine.ts",
      edits: [insertAfter("    hasGroups: FLAG,\n", "    hasBudget: FLAG,\n")],
    },
    {
      path: "packages/redis/lua/snapshot.lua",
      round: "modules",
      says: "does not use 'hasBudget'",
      edits: [insertAfter("local hasGroups = q.hasGroups and 1 or 0\n", "local hasBudget = q.budget and 1 or 0\n")],
    },
    {
      path: "packages/redis/partitioned_engine.ts",
      round: "entries",
      says: "packages/redis/partitioned_engine.ts",
      edits: [insertAfter("      paused: all.some(({ paused }) => paused),\n", "      hasBudget: first.hasBudget,\n")],
    },
    {
      path: "packages/sqlite/store/snapshot.ts",
      round: "entries",
      says: "packages/sqlite/store/snapshot.ts",
      edits: [insertAfter(
        "    paused: queue.isPaused,\n",
        "    hasBudget: queue.budget !== undefined,\n",
      )],
    },
    {
      path: "lib/contracts/remote_snapshot.ts",
      round: "lists",
      says: "'hasBudget' does not exist in type 'EngineSnapshot'",
      edits: [insertAfter(
        "  /** Counts since the queue was created. For rates, compare two snapshots. */\n  totals: QueueTotals;\n",
        "  /** Whether the queue has a retry budget. */\n  hasBudget: boolean;\n",
      )],
    },
    {
      path: "tests/redis/snapshot_test.ts",
      round: "tests",
      says: "a snapshot of an empty queue ... FAILED",
      needsRedis: true,
      edits: [
        insertAfter("failing: 0, givenUp: 0, oldestReadyMs: 0, ", "hasBudget: false, "),
        insertAfter("    ...{ ready: 1, blocked: 0, delayed: 1, processing: 0, paused: true, ", "hasBudget: false, "),
        insertAfter('new Set([...inMemory, ...counts, "failingItems", ', '"hasBudget", '),
      ],
    },
  ],
};
