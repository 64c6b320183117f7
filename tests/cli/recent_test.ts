import { assertEquals } from "@std/assert";
import type { Tally } from "../../packages/cli/run/tally.ts";
import { failingTally, recentOf, tallyOf } from "./tallies.ts";

Deno.test("recent: the rate covers the last ten seconds, and is unknown during the first second", () => {
  const at = (seconds: number, succeeded: number) => tallyOf({ seconds, succeeded });
  assertEquals(recentOf(at(0.1, 5), at(0.9, 9)).rate, undefined);
  assertEquals(recentOf(at(0.5, 10), at(2, 20)).rate, 10);
  const seconds = Array.from({ length: 30 }, (_, i) => at(i + 1, i < 20 ? 0 : 5 * (i - 19)));
  assertEquals(recentOf(...seconds).rate, 5);
  assertEquals(recentOf(at(1, 100), ...Array.from({ length: 12 }, (_, i) => at(i + 2, 100))).rate, 0);
});

Deno.test("recent: rate and failure change once a second, to be readable", () => {
  const failure = (item: string) => ({ item, attempt: 1, reason: "no" });
  const recent = recentOf(
    failingTally({ seconds: 1, succeeded: 47, lastFailure: failure("a") }),
    failingTally({ seconds: 1.9, succeeded: 97, lastFailure: failure("b") }),
  );
  assertEquals([recent.rate, recent.failure?.item], [50, "a"]);
  recent.add(failingTally({ seconds: 2, succeeded: 97, lastFailure: failure("c") }));
  assertEquals([recent.rate, recent.failure?.item], [50, "c"]);
  assertEquals(recentOf(failingTally({ seconds: 0.1 })).failure?.item, "db/users"); // shown immediately
});

Deno.test('recent: "nothing succeeds" means that several attempts failed and none succeeded for a while', () => {
  const nothingSucceeds = (...tallies: Partial<Tally>[]) =>
    recentOf(...tallies.map((tally) => failingTally({ givenUp: 0, ...tally }))).nothingSucceeds;
  assertEquals(nothingSucceeds({ seconds: 0.2, succeeded: 0, failures: 2 }), false);
  assertEquals(nothingSucceeds({ seconds: 0.2, succeeded: 0, failures: 3 }), true);
  const success = { seconds: 7, succeeded: 4, failures: 10 };
  assertEquals(nothingSucceeds(success, { ...success, seconds: 8, failures: 90 }), false);
  assertEquals(nothingSucceeds(success, { ...success, seconds: 12, failures: 12 }), false); // only two new failures
  assertEquals(nothingSucceeds(success, { ...success, seconds: 12, failures: 13 }), true);
  assertEquals(nothingSucceeds(success, { ...success, seconds: 60, failures: 13 }), true); // no retry is due
  assertEquals(nothingSucceeds(success, { ...success, seconds: 60, failures: 13, failing: 0 }), false);
});
