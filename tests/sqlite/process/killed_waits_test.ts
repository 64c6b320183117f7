/** Tests of `addAndWait` in a file between real processes, some of which are killed. */

import { createSqliteQueue } from "@workqueue/sqlite";
import { killedWaitsSuite } from "../../contracts/killed_waits_suite.ts";
import { Folder } from "../files.ts";

killedWaitsSuite((name, run) => {
  Deno.test(`SQLite: ${name}`, async () => {
    using folder = new Folder();
    const { path } = folder;
    await run({
      name: "waits",
      place: path,
      open: (options) => createSqliteQueue({ name: "waits", path, ...options }),
    });
  });
});
