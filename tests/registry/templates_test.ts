/** Template options: a part builds other parts from a template, for example one for each group of items. */

import { assert, assertEquals, assertFalse, assertStrictEquals, assertThrows } from "@std/assert";
import { ConfigError, defineLimiter, limiters, loadConfig, type RateLimiter } from "@workqueue/core";
import { createLimiter, limiterKind } from "../../limiters/definition.ts";
import { partTemplate } from "../../registry/options_in_code.ts";
import { HandClock, issuesOf } from "../helpers.ts";
import { compile, CONSTANT, parts, variants } from "./parts.ts";

/** Returns a type of limiter whose `create` records the functions that it receives, and a registry with that type. */
function templates() {
  const made: (() => RateLimiter)[] = [];
  const definition = defineLimiter({
    type: "each",
    description: "",
    options: { limiter: { kind: "limiter", template: true, description: "What each gets." } },
    create({ limiter }) {
      made.push(limiter);
      return CONSTANT;
    },
  });
  return { made, definition, registry: limiters.extend().register(definition) };
}

const BACKOFF = { type: "exponential", baseDelay: 1, maxDelay: 100 };

Deno.test("a template is a function that builds a new part with each call", () => {
  const { made, registry } = templates();
  registry.build({ type: "each", limiter: BACKOFF });
  const [one, two] = [made[0]!(), made[0]!()];
  assertFalse(one === two);
  assertEquals([one.when("a"), one.when("a"), two.when("a")], [1, 2, 1]);
});

Deno.test("a template's config is checked when it is read, at its place, at any depth", () => {
  const { registry } = templates();
  const config = { type: "each", limiter: { type: "each", limiter: { ...BACKOFF, baseDelay: -1, maxDely: 5 } } };
  assertEquals(issuesOf(() => registry.build(config)).map(({ path }) => path), [
    "/limiter/limiter/maxDely",
    "/limiter/limiter/baseDelay",
  ]);
  assertEquals(issuesOf(() => registry.build({ type: "each" })), [
    { path: "/limiter", message: "missing required option 'limiter' (what each gets)" },
  ]);
});

Deno.test("a name instead of a template is refused, and names deeper inside are shared", () => {
  const { made, registry } = templates();
  assertEquals(
    issuesOf(() => loadConfig({ limiters: { a: BACKOFF, b: { type: "each", limiter: "a" } } }, { limiters: registry })),
    [{
      path: "/limiters/b/limiter",
      message: `'limiter' must be the config of a limiter, not a name, because several are created from it, got "a"`,
    }],
  );
  const limiter = { type: "max-of", limiters: ["a", BACKOFF] };
  const document = { limiters: { b: { type: "each", limiter }, a: BACKOFF } };
  const config = loadConfig(document, { limiters: registry });
  const [one, two] = [made[0]!(), made[0]!()];
  one.when("x");
  assertEquals([config.limiter("a").numRequeues("x"), two.numRequeues("x")], [1, 1]);
  one.when("x");
  assertEquals(two.when("x"), 4);
});

Deno.test("names inside templates cause no circle", () => {
  const { registry } = templates();
  const limiter = { type: "max-of", limiters: ["a"] };
  const [issue] = issuesOf(() => loadConfig({ limiters: { a: { type: "each", limiter } } }, { limiters: registry }));
  assertEquals(issue, {
    path: "/limiters/a/limiter/limiters/0",
    message: `limiters must not refer to each other in a circle: "a" → "a"`,
  });
});

Deno.test("templates count among the limiters inside one, and their depth counts, too", () => {
  const { registry } = templates();
  let deep: object = BACKOFF;
  for (let i = 0; i < 32; i++) deep = { type: "each", limiter: deep };
  registry.build(deep as { type: "each" });
  const [tooDeep] = issuesOf(() => registry.build({ type: "each", limiter: deep }));
  assertEquals(tooDeep?.message, "'limiter' must not be nested in more than 32 other limiters");
  const own: { type: "each"; limiter?: unknown } = { type: "each" };
  own.limiter = own;
  assertEquals(issuesOf(() => registry.build(own)).length, 1);
});

/** Registers a type whose `create` throws after a number of calls that the test sets. */
function failing(registry: typeof limiters) {
  const failure = new Error("no more");
  const state = { left: Infinity, created: 0 };
  registry.register(parts({
    type: "failing",
    create: () => {
      if (state.created++ >= state.left) throw failure;
      return CONSTANT;
    },
  }));
  return { failure, state };
}

Deno.test("errors of a template are found when it is loaded, before a part is created", () => {
  const { registry } = templates();
  const { failure, state } = failing(registry);
  state.left = 0;
  const document = { limiters: { a: { type: "each", limiter: { type: "each", limiter: { type: "failing" } } } } };
  const error = assertThrows(() => loadConfig(document, { limiters: registry }), ConfigError);
  assertEquals([...error.issues], [{ path: "/limiters/a/limiter/limiter", message: "no more" }]);
  assertStrictEquals(error.cause, failure);
});

Deno.test("each template is tried once during loading, and not again with each part of the template around it", () => {
  const { made, registry } = templates();
  const { state } = failing(registry);
  registry.build({ type: "each", limiter: { type: "each", limiter: { type: "failing" } } });
  assertEquals(state.created, 1);
  const outer = made.at(-1)!;
  for (let i = 0; i < 5; i++) outer();
  assertEquals(state.created, 1);
  made.at(-1)!();
  assertEquals(state.created, 2);
});

Deno.test("a later error of a template is the same error as during loading", () => {
  const { made, registry } = templates();
  const { failure, state } = failing(registry);
  loadConfig({ limiters: { a: { type: "each", limiter: { type: "failing" } } } }, { limiters: registry });
  state.left = 0;
  const error = assertThrows(made[0]!, ConfigError, "Cannot load config: no more (at /limiters/a/limiter)");
  assertStrictEquals(error.cause, failure);
});

Deno.test("a template is built with the context of the build", () => {
  const { made, registry } = templates();
  const clock = new HandClock();
  registry.build({ type: "each", limiter: { type: "bucket", rate: 1, burst: 1 } }, { clock });
  const bucket = made[0]!();
  assertEquals([bucket.when("a"), bucket.when("b")], [0, 1000]);
  clock.advance(1000);
  assertEquals(bucket.when("c"), 1000);
});

Deno.test("in code, a template is a function, and the part itself is refused", () => {
  const { made, definition } = templates();
  const limiter = () => CONSTANT;
  createLimiter(definition, { limiter: partTemplate(limiterKind) }, { limiter });
  assertStrictEquals(made[0], limiter);
  for (const bad of [CONSTANT, "name", undefined, BACKOFF]) {
    const message = "Cannot create each limiter: 'limiter' must be a function that makes a rate limiter, got";
    assertThrows(
      () => createLimiter(definition, { limiter: partTemplate(limiterKind) }, { limiter: bad }),
      TypeError,
      message,
    );
  }
});

Deno.test("the JSON Schema of a template accepts no name", () => {
  const { registry } = templates();
  const isValid = compile(registry);
  assert(isValid({ type: "each", limiter: BACKOFF }));
  assert(isValid({ type: "each", limiter: { type: "max-wait", maxDelay: 1, limiter: "a" } }));
  assertFalse(isValid({ type: "each", limiter: "a" }));
  assertFalse(isValid({ type: "each" }));
  assertEquals(Object.keys(variants(registry).at(-1)!.then.properties), ["type", "limiter"]);
});

Deno.test("an option that isn't a single part can't be declared a template", () => {
  const cases: [field: object, message: string][] = [
    [{ kind: "string", template: true }, "'x.template' is for an option that is a limiter, got true"],
    [{ kind: "limiters", template: true }, "'x.template' is for an option that is a limiter, got true"],
    [{ kind: "limiter", template: "yes" }, `'x.template' must be true, or left out, got "yes"`],
  ];
  for (const [field, message] of cases) {
    const options = { x: { description: "", ...field } };
    assertThrows(() => defineLimiter(parts({ options })), TypeError, `Cannot define limiter "custom": ${message}`);
  }
});
