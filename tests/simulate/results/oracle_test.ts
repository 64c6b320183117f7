import { assert } from "@std/assert";
import { goodputOf } from "../oracle.ts";

const SEEDS = [1, 2]; // `deno task prove` tries 50

for (const throttle of ["aimd", "gradient"] as const) {
  Deno.test(`rule 19: ${throttle} reaches 95 % of an oracle at 50 ms, and 90 % right after a jump`, async () => {
    for (const seed of SEEDS) {
      for (const { jump, whole, firstTenSeconds } of await goodputOf(throttle, 50, seed)) {
        assert(whole >= 0.95, `${jump}, seed ${seed}: ${whole}`);
        assert(firstTenSeconds >= 0.9, `first ten seconds, ${jump}, seed ${seed}: ${firstTenSeconds}`);
      }
    }
  });

  Deno.test(`rule 19: ${throttle} reaches 90 % of an oracle at 200 ms, ten seconds after a jump`, async () => {
    for (const seed of SEEDS) {
      for (const { jump, rest } of await goodputOf(throttle, 200, seed)) {
        assert(rest >= 0.9, `${jump}, seed ${seed}: ${rest}`);
      }
    }
  });
}

Deno.test("a fixed limit tuned for the mean capacity reaches about 55 % of an oracle when the capacity jumps up", async () => {
  const [, up] = await goodputOf("fixed", 50, 1);
  assert(up!.whole < 0.65, String(up!.whole));
});
