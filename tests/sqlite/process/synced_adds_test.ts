/** Test of the system calls for an add: the log is on the disk before the promise resolves. */

import { assert, assertEquals } from "@std/assert";
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { allRuntimes } from "../../runtimes.ts";
import { Folder } from "../files.ts";
import { STRACE } from "./killed_loads.ts";

const SCRIPT = fileURLToPath(new URL("synced_adds.ts", import.meta.url));

for (const [runtime, commandOf] of Object.entries(allRuntimes)) {
  Deno.test({
    name: `rule 21: on ${runtime}, an add has been synced when it resolves, and the work on an item needs no sync`,
    ignore: STRACE === undefined,
    async fn() {
      using folder = new Folder();
      const trace = `${folder.path}.trace`;
      const options = ["-f", "-y", "-o", trace, "-e", "trace=pwrite64,fsync,fdatasync,write"];
      await promisify(execFile)(STRACE!, [...options, ...await commandOf(), SCRIPT, folder.path]);
      const syncs = { added: 0, finished: 0 };
      let isSynced = true;
      let calls = 0;
      for (const line of readFileSync(trace, "utf8").split("\n")) {
        const isOfLog = line.includes("queue.db-wal>");
        if (isOfLog && line.includes("pwrite64(")) isSynced = false;
        if (isOfLog && /sync\(/.test(line)) isSynced = true;
        const [, printed] = /write\(1.*"(added|finished)\\n"/.exec(line) ?? [];
        if (printed === undefined) continue;
        calls++;
        if (isSynced) syncs[printed as keyof typeof syncs]++;
      }
      assertEquals([calls, syncs.added], [6, 3]);
      assert(syncs.finished < 3, "each finish was synced");
    },
  });
}
