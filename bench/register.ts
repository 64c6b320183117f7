import { type Groups, KEYS } from "./cases/case.ts";
import { distinctKeys } from "./keys.ts";

/** Registers cases with `deno bench`. */
export function register(cases: Groups): void {
  const keys = distinctKeys(KEYS);
  for (const [group, ofGroup] of Object.entries(cases)) {
    for (const [i, [name, prepare]] of Object.entries(ofGroup).entries()) {
      let run: (() => unknown) | undefined;
      // An async function, because `deno bench` doesn't await the promises of other functions.
      Deno.bench(name, { group, baseline: i === 0 }, async () => {
        run ??= prepare(keys);
        await run();
      });
    }
  }
}
