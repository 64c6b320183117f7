/** Registering types, and looking types up. */

import { assert, assertEquals, assertFalse, assertStrictEquals, assertThrows } from "@std/assert";
import { type LimiterConfig, limiters } from "@workqueue/core";
import { LimiterRegistry } from "@workqueue/core/limiters";
import { HandClock, pathsOf } from "../helpers.ts";
import { builtIns } from "../../docs/generate/built_ins.ts";
import { parts } from "./parts.ts";

Deno.test("the default registry has the built-in limiters", () => {
  const documented = builtIns.map(({ example }) => example.type);
  assertEquals(limiters.types().toSorted(), documented.toSorted());
  for (const type of documented) {
    assert(limiters.has(type));
    assertEquals(limiters.get(type)?.type, type);
    assertFalse(limiters.get(type)?.description === "");
  }
  for (const type of ["", "Bucket", "__proto__", "constructor", "toString"]) {
    assertFalse(limiters.has(type));
    assertEquals(limiters.get(type), undefined);
  }
});

Deno.test("every built-in limiter is built from its config", () => {
  const context = { clock: new HandClock() };
  const cases: [config: LimiterConfig, delays: number[]][] = [
    [{ type: "bucket", rate: 10, burst: 2 }, [0, 0, 100]],
    [{ type: "exponential", baseDelay: "5ms", maxDelay: "15ms" }, [5, 10, 15]],
    [{ type: "fast-slow", fastDelay: 1, slowDelay: "1m", maxFastAttempts: 2 }, [1, 1, 60_000]],
    [{
      type: "max-of",
      limiters: [{ type: "bucket", rate: 10, burst: 1 }, { type: "exponential", baseDelay: 60, maxDelay: 1000 }],
    }, [60, 120, 240]],
    [{ type: "max-wait", limiter: { type: "exponential", baseDelay: 1, maxDelay: 100 }, maxDelay: 3 }, [1, 2, 3]],
  ];
  for (const [config, delays] of cases) {
    const limiter = limiters.build<string>(config, context);
    assertEquals(delays.map(() => limiter.when("a")), delays, JSON.stringify(config));
  }
});

Deno.test("each build makes a new limiter", () => {
  const config: LimiterConfig = { type: "exponential", baseDelay: 1, maxDelay: 2 };
  const [one, two] = [limiters.build(config), limiters.build(config)];
  one.when("a");
  assertEquals([one.numRequeues("a"), two.numRequeues("a")], [1, 0]);
});

Deno.test("register, unregister, has, get and types agree with each other", () => {
  const registry = new LimiterRegistry();
  assertEquals(registry.types(), []);
  const [one, two] = [parts({ type: "one" }), parts({ type: "two" })];
  assertStrictEquals(registry.register(one), registry);
  registry.register(two);
  assertEquals(registry.types(), ["one", "two"]);
  assertStrictEquals(registry.get("one"), one);
  assert(registry.unregister("one"));
  assertFalse(registry.unregister("one"));
  assertEquals([registry.has("one"), registry.get("one"), registry.has("two")], [false, undefined, true]);
  assertEquals(registry.types(), ["two"]);
  registry.register(one);
  assertEquals(registry.types(), ["two", "one"]);
});

Deno.test("the result of types() is a copy", () => {
  const registry = new LimiterRegistry().register(parts({}));
  registry.types().pop();
  assertEquals(registry.types(), ["custom"]);
});

Deno.test("a type can be registered only once, and the first definition stays", () => {
  const first = parts({});
  const registry = new LimiterRegistry().register(first);
  const { message } = assertThrows(() => registry.register(parts({})), TypeError);
  assertEquals(message, 'Cannot register limiter: the type "custom" is registered already');
  assertStrictEquals(registry.get("custom"), first);
});

Deno.test("a limiter that was built continues after its type is unregistered", () => {
  const registry = limiters.extend();
  const limiter = registry.build({ type: "exponential", baseDelay: 1, maxDelay: 2 });
  registry.unregister("exponential");
  assertEquals(limiter.when("a"), 1);
  assertEquals(pathsOf(() => registry.build({ type: "exponential", baseDelay: 1, maxDelay: 2 })), ["/type"]);
});

Deno.test("extend() copies: a change of one registry does not affect the other", () => {
  const base = new LimiterRegistry().register(parts({ type: "a" }));
  const more = base.extend().register(parts({ type: "b" }));
  base.register(parts({ type: "c" })).unregister("a");
  assertEquals(more.types(), ["a", "b"]);
  assertEquals(base.types(), ["c"]);
  assertEquals([limiters.has("a"), limiters.has("b")], [false, false]);
});

Deno.test("use() lets a plugin register its types, at once", () => {
  const registry = limiters.extend();
  const plugin = (registry: LimiterRegistry) =>
    void registry.register(parts({ type: "a" })).register(parts({ type: "b" }));
  assertStrictEquals(registry.use(plugin), registry);
  assertEquals(registry.types(), [...limiters.types(), "a", "b"]);
  assertEquals(registry.build({ type: "b" }).when("x"), 7);
});

Deno.test("use() passes on an error of the plugin", () => {
  const failure = new Error("no");
  const use = () => {
    throw failure;
  };
  assertStrictEquals(assertThrows(() => new LimiterRegistry().use(use)), failure);
});

Deno.test("a registry registers built-in types at its first use, before all others", () => {
  let reads = 0;
  const builtIns = {
    get custom() {
      reads++;
      return parts({});
    },
    createCustom: () => {},
  };
  const registry = new LimiterRegistry(builtIns);
  assertEquals(reads, 0);
  registry.register(parts({ type: "other" }));
  assertEquals([registry.types(), registry.extend().types(), reads], [["custom", "other"], ["custom", "other"], 1]);
  assert(registry.unregister("custom"));
  assertEquals(registry.types(), ["other"]);
  assertThrows(() => new LimiterRegistry(builtIns).register(parts({})), TypeError, `"custom" is registered already`);
});
