/** Tests of a config's tree. It contains the position of each part, and can be built as often as needed. */

import { assert, assertEquals, assertThrows } from "@std/assert";
import { ConfigError, limiters, type RateLimiter } from "@workqueue/core";
import { limiterKind } from "../../limiters/definition.ts";
import { type Building, buildPart } from "../../registry/build.ts";
import { partContextOf } from "../../registry/definition.ts";
import { ConfigReader } from "../../registry/reader.ts";
import { isName, nodesOf, type PartTree } from "../../registry/tree.ts";

const CONFIG = {
  type: "max-of",
  limiters: ["shared", {
    type: "max-wait",
    maxDelay: "1m",
    limiter: { type: "exponential", baseDelay: 1, maxDelay: 9 },
  }],
};

function read(config: unknown, definitions = limiters): PartTree<RateLimiter> {
  const reader = new ConfigReader("read", { kind: limiterKind, definitions, names: new Set(["shared"]) });
  const tree = reader.readPart(limiterKind, "limiter", config, "/limiters/a");
  reader.throwIssues();
  return tree!;
}

function building(named: RateLimiter): Building {
  return { action: "build", context: partContextOf({}), named: () => named };
}

const CONSTANT: RateLimiter = { when: () => 2, forget() {}, numRequeues: () => 0 };

Deno.test("the tree has the place, the type and the options of each limiter", () => {
  const nodes = [...nodesOf(read(CONFIG))].map((node) =>
    isName(node) ? [node.path, node.name] : [node.path, node.definition.type, node.plain]
  );
  assertEquals(nodes, [
    ["/limiters/a", "max-of", {}],
    ["/limiters/a/limiters/0", "shared"],
    ["/limiters/a/limiters/1", "max-wait", { maxDelay: 60_000 }],
    ["/limiters/a/limiters/1/limiter", "exponential", { baseDelay: 1, maxDelay: 9 }],
  ]);
});

Deno.test("one tree is built many times: names refer to shared parts, and all other parts are new each time", () => {
  const tree = read(CONFIG);
  const [one, two] = [buildPart(tree, building(CONSTANT)), buildPart(tree, building(CONSTANT))];
  assertEquals([one.when("x"), one.when("x"), one.when("x"), two.when("x")], [2, 2, 4, 2]);
  assertEquals([one.numRequeues("x"), two.numRequeues("x")], [3, 1]);
});

Deno.test("a tree is built with the definitions with which it was checked, even if the registry changes", () => {
  const registry = limiters.extend();
  const tree = read(CONFIG, registry);
  for (const type of registry.types()) registry.unregister(type);
  assertEquals(buildPart(tree, building(CONSTANT)).when("x"), 2);
});

Deno.test("reading creates nothing, and building checks only the created parts", () => {
  const calls: string[] = [];
  const registry = limiters.extend().register({
    type: "noisy",
    description: "",
    options: { n: { kind: "integer", description: "" } },
    check: () => void calls.push("check"),
    create: ({ n }) => {
      calls.push(`create ${n}`);
      return n === 2 ? {} as RateLimiter : CONSTANT;
    },
  });
  const [good, bad] = [1, 2].map((n) => read({ type: "noisy", n }, registry));
  assertEquals(calls, ["check", "check"]);
  for (let i = 0; i < 2; i++) assert(buildPart(good!, building(CONSTANT)) === CONSTANT);
  assertThrows(() => buildPart(bad!, building(CONSTANT)), ConfigError, "(at /limiters/a)");
  assertEquals(calls, ["check", "check", "create 1", "create 1", "create 2"]);
});
