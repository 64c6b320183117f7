/** Tests of the size of files. `deno task bench:keys` measures more keys, and the time of calls. */

import { assert } from "@std/assert";
import { statSync } from "node:fs";
import { Folder } from "./files.ts";

Deno.test("SQLite: a delayed key takes at most 400 bytes, and its place is used again", async () => {
  using folder = new Folder();
  const KEYS = 5000;
  /** Adds keys in any order of their deadlines, and cancels them. Returns the size of the file in between. */
  const addAndCancel = async (round: number) => {
    const keys = Array.from({ length: KEYS }, (_, i) => `image-${round}${100_000 + i * 7919 % KEYS}.jpg`);
    const first = folder.open();
    await Promise.all(keys.map((key, i) => first.addAfter(key, 3_600_000 + i * 104_729 % KEYS)));
    await first.shutDownWithDrain();
    const { size } = statSync(folder.path); // the last process that closes the file copies the log into it
    const second = folder.open();
    await Promise.all(keys.map((key) => second.cancelDelayed(key)));
    await second.shutDownWithDrain();
    return size;
  };
  const size = await addAndCancel(1);
  assert(size <= 400 * KEYS, `${size / KEYS} bytes`);
  const again = await addAndCancel(2);
  assert(again <= 1.2 * size, `${again / size} times the size`);
});
