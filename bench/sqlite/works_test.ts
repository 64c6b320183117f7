import { ok } from "node:assert/strict";
import { SERVER, Server } from "../redis/server.ts";
import { BENCH, output } from "../machine.ts";
import { findRuntimes } from "../remote/agents.ts";
import type { FileCalls } from "./agent.ts";
import { measureWakeUps } from "./idle.ts";
import { NODE, PACKAGES, REDIS } from "./names.ts";
import { measureAdding, measureLocked } from "./standstill.ts";
import { contenders, measure, runtimesOf, worksOn } from "./works.ts";

const ITEMS = 20;
const works = Object.entries(worksOn(0));

async function withFile(run: (place: string) => Promise<unknown>): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "workqueue_" });
  try {
    await run(`${folder}/queue.db`);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

for (const contender of Object.keys(contenders).filter((name) => runtimesOf(name).includes("deno"))) {
  Deno.test({
    name: `bench: ${contender} does its work`,
    ignore: contender === REDIS && SERVER === undefined,
    fn: async () => {
      await using server = contender === REDIS ? await Server.start() : undefined;
      for (const [work, { contenders, durability }] of works) {
        if (!contenders.includes(contender)) continue;
        await withFile((path) =>
          measure({
            ...{ contender, work, durability, items: ITEMS, queue: work, payload: 0 },
            place: server?.url ?? path,
          })
        );
      }
    },
  });
}

Deno.test("bench: the peers do their work on their runtimes", async () => {
  const node = (await output("npx", ["-y", NODE, "-p", "process.execPath"], BENCH))!;
  const program = { url: new URL("agent.ts", import.meta.url), node, packages: PACKAGES };
  for (const runtime of await findRuntimes<FileCalls>(program)) {
    for (const contender of Object.keys(contenders)) {
      if (runtimesOf(contender).includes("deno") || !runtimesOf(contender).includes(runtime.id)) continue;
      await using agent = runtime.start();
      for (const [work, { contenders, durability }] of works) {
        if (!contenders.includes(contender)) continue;
        await withFile((place) =>
          agent.call("measure", { contender, work, durability, items: ITEMS, queue: work, payload: 0, place })
        );
      }
    }
  }
});

Deno.test("bench: turns of the event loop are measured, also while the file is locked", () =>
  withFile(async (place) => {
    ok(await measureAdding({ place, duration: 50 }) > 0);
    ok(await measureLocked({ place: `${place}-2`, duration: 50 }) > 0);
  }));

Deno.test({
  name: "bench: the wake-ups of a process are counted",
  ignore: Deno.build.os !== "linux",
  fn: async () => {
    const timer = setInterval(() => {}, 1);
    ok(await measureWakeUps(Deno.pid, 50) > 0);
    clearInterval(timer);
  },
});
