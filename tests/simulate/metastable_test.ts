import { assert, assertEquals } from "@std/assert";
import { shareWithoutRecovery } from "./metastable.ts";

const RUNS = 20;

Deno.test("rule 18: with a retry budget and a throttle, a queue always recovers from an overload that has ended", async () => {
  assertEquals(await shareWithoutRecovery("budget and throttle", RUNS), 0);
});

Deno.test("rule 18: without a retry budget and a throttle, most queues don't recover from an overload that has ended", async () => {
  assert(await shareWithoutRecovery("plain", RUNS) > 0.6);
});
