import { assert, assertEquals } from "@std/assert";
import { loadConfig } from "@workqueue/core";
import { begin, result } from "./helpers.ts";

Deno.test("concurrency: after the limit is lowered, running attempts continue, and none starts until fewer run", () => {
  const document = (limit: number) => ({ throttles: { api: { type: "concurrency", limit } } });
  const config = loadConfig(document(3));
  const throttle = config.throttle("api");
  const permits = [1, 2, 3].map(() => begin(throttle));
  config.reload(document(2));
  assertEquals(throttle.snapshot!().inUse, 3);
  permits[0]!.end(result("failed"));
  assertEquals(throttle.acquire(), Infinity);
  permits[1]!.end(result("succeeded"));
  assert(typeof throttle.acquire() === "object");
});
