/**
 * Bounds of the calls and files that one item goes through. Each call is a step that a reader follows, so the bounds
 * may only fall.
 */

import { assert } from "@std/assert";
import { fileURLToPath } from "node:url";
import { ALL_PACKAGES } from "../runtimes.ts";

const ROOT = new URL("../../", import.meta.url).href;
const PROGRAM = fileURLToPath(new URL("one_item.ts", import.meta.url));

/** Coverage of one file, as V8 reports it. */
interface Coverage {
  readonly url: string;
  readonly functions: readonly { readonly functionName: string; readonly ranges: readonly Range[] }[];
}

interface Range {
  readonly startOffset: number;
  readonly count: number;
}

/** Runs items through a queue. Returns the calls of each function of the repository, by its file and place. */
async function callsOf(kind: string, items: number): Promise<Map<string, number>> {
  const folder = Deno.makeTempDirSync({ prefix: "workqueue_" });
  try {
    const args = ["run", `--coverage=${folder}`, "--config", ALL_PACKAGES, "-A", PROGRAM, kind, `${items}`];
    const { success, stderr } = await new Deno.Command(Deno.execPath(), { args }).output();
    assert(success, new TextDecoder().decode(stderr));
    const calls = new Map<string, number>();
    for (const { name } of Deno.readDirSync(folder)) {
      if (!name.endsWith(".json")) continue;
      const { url, functions }: Coverage = JSON.parse(Deno.readTextFileSync(`${folder}/${name}`));
      if (!url.startsWith(ROOT) || url.startsWith(`${ROOT}tests/`)) continue;
      for (const { functionName, ranges: [whole] } of functions) {
        const place = `${url.slice(ROOT.length)} ${functionName} ${whole!.startOffset}`;
        calls.set(place, (calls.get(place) ?? 0) + whole!.count);
      }
    }
    return calls;
  } finally {
    Deno.removeSync(folder, { recursive: true });
  }
}

/** Number of items that are counted, and of items before them: the first items make what is made once. */
const [COUNTED, BEFORE] = [20, 5];
/** Number of runs, of which the fewest calls of each function count. */
const RUNS = 4;

const BOUNDS = {
  plain: { calls: 182, files: 18 },
  whole: { calls: 456, files: 34 },
};

for (const [kind, most] of Object.entries(BOUNDS)) {
  Deno.test(`calls: one item on a ${kind} queue: at most ${most.calls} calls in ${most.files} files`, async () => {
    const before = await callsOf(kind, BEFORE);
    const runs = await Array.fromAsync({ length: RUNS }, () => callsOf(kind, BEFORE + COUNTED));
    let calls = 0;
    const files = new Set<string>();
    for (const place of runs[0]!.keys()) {
      // On a busy machine, a pool makes pauses now and then, which take many calls.
      const counted = Math.min(...runs.map((calls) => calls.get(place) ?? 0)) - (before.get(place) ?? 0);
      if (counted < COUNTED / 2) continue; // it happens now and then, for example when the event loop gets a turn
      calls += counted / COUNTED;
      files.add(place.split(" ")[0]!);
    }
    console.log(`${kind}: ${calls.toFixed(0)} calls in ${files.size} files`);
    assert(calls <= most.calls, `${calls} calls`);
    assert(files.size <= most.files, `${files.size} files`);
  });
}
