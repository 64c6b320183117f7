import { measureMillion } from "./million.ts";
import { SERVER, Server } from "./server.ts";
import { measure, orderedWorks, orders, peers, works } from "./works.ts";

const ITEMS = 200;

function test(name: string, run: (server: Server) => Promise<unknown>): void {
  Deno.test({
    name: `bench: ${name}`,
    ignore: SERVER === undefined,
    fn: async () => {
      await using server = await Server.start();
      await run(server);
    },
  });
}

for (const [contenders, compared] of [[peers, works], [orders, orderedWorks]] as const) {
  for (const contender of contenders) {
    for (const [work, { concurrency }] of Object.entries(compared)) {
      if (concurrency > 10) continue; // differs from another workload only in its concurrency
      test(`${contender} does its work: ${work}`, async (server) => {
        for (const payload of [0, 10]) {
          await measure({ contender, work, place: server.url, queue: `${work}-${payload}`, payload }, ITEMS);
        }
      });
    }
  }
}

test("what a million keys cost can be measured", (server) => measureMillion(server, 20_000));
