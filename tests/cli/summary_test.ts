import { assertEquals } from "@std/assert";
import { RefusedLines } from "../../packages/cli/items/refused_lines.ts";
import { RunMetrics } from "../../packages/cli/run/statistics.ts";
import type { Tally } from "../../packages/cli/run/tally.ts";
import { GivenUpItems, summarize } from "../../packages/cli/view/summary.ts";
import { tallyOf } from "./tallies.ts";

/** Returns the labels of the summary's rows. */
function labels(tally: Tally, metrics = new RunMetrics()): string[] {
  const lines = summarize(tally, metrics, new GivenUpItems(), new RefusedLines()).trimEnd().split("\n");
  return lines.filter((line) => line !== "Given up:" && !line.startsWith(" ")).map((line) =>
    line.slice(0, 18).trimEnd()
  );
}

Deno.test("summary: rows with zero are left out, except the number of items", () => {
  assertEquals(labels(tallyOf({ items: 0, succeeded: 0 })), ["Distinct items", "Wall time"]);
  assertEquals(labels(tallyOf({ items: 612 })), ["Distinct items", "Succeeded", "Wall time"]);
});

Deno.test("summary: all other rows are shown", () => {
  const metrics = new RunMetrics();
  metrics.queueWait.observe(1);
  metrics.workTime.observe(1);
  const tally = tallyOf({ folded: 1, doneBefore: 2, refused: 3, givenUp: 4, retries: 5 });
  assertEquals(labels(tally, metrics), [
    "Distinct items",
    "Duplicates folded",
    "Already done",
    "Lines refused",
    "Succeeded",
    "Given up",
    "Unfinished",
    "Retries",
    "Wall time",
    "Queue wait",
    "Work time",
  ]);
});
