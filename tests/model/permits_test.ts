import { tryPermits } from "./permits.ts";

Deno.test("rule 19: pools, pauses, changes and drains leak no permit, and exceed no limit, at random", async () => {
  for (let seed = 1; seed <= 60; seed++) await tryPermits(seed);
});
