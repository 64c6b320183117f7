/** Tests of limiters that refer to each other by name. */

import { assert, assertEquals, assertMatch, assertStrictEquals, assertStringIncludes } from "@std/assert";
import { loadConfig } from "@workqueue/core";
import { buildOrder, type Reference } from "../../config/build_order.ts";
import { issuesOf, pathsOf } from "../helpers.ts";
import { randomNumbers } from "../queue_helpers.ts";
import { EXPONENTIAL } from "./documents.ts";

Deno.test("rule 10: a circle of references is reported once, with the names in it", () => {
  const wait = (limiter: string) => ({ type: "max-wait", maxDelay: 1, limiter });
  const circle = (path: string, names: string) => ({
    path,
    message: `limiters must not refer to each other in a circle: ${names}`,
  });
  const cases: [limiters: object, issues: ReturnType<typeof circle>[]][] = [
    [{ a: "a" }, [circle("/limiters/a", `"a" → "a"`)]],
    [{ a: wait("a") }, [circle("/limiters/a/limiter", `"a" → "a"`)]],
    [{ a: "b", b: "a" }, [circle("/limiters/a", `"a" → "b" → "a"`)]],
    [{ a: "b", b: wait("c"), c: "a" }, [circle("/limiters/a", `"a" → "b" → "c" → "a"`)]],
    // two reference cycles
    [{ a: "b", b: "a", c: "d", d: "c" }, [
      circle("/limiters/a", `"a" → "b" → "a"`),
      circle("/limiters/c", `"c" → "d" → "c"`),
    ]],
    // names that lead into a cycle, listed before and after the cycle's names
    [{ in: "a", a: "b", b: "a" }, [circle("/limiters/a", `"a" → "b" → "a"`)]],
    [{ a: "b", b: "a", in: "a", further: wait("in") }, [circle("/limiters/a", `"a" → "b" → "a"`)]],
    [{ x: "y", y: "z", z: "z", w: "y" }, [circle("/limiters/z", `"z" → "z"`)]],
    // a cycle through one of several references; the other references are valid
    [
      {
        leaf: EXPONENTIAL,
        a: { type: "max-of", limiters: ["leaf", "b"] },
        b: { type: "max-of", limiters: ["leaf", wait("a")] },
      },
      [circle("/limiters/a/limiters/1", `"a" → "b" → "a"`)],
    ],
  ];
  for (const [limiters, issues] of cases) assertEquals(issuesOf(() => loadConfig({ limiters })), issues);
});

Deno.test("rule 10: names that lead out of a circle are not part of it, and names used twice are not a circle", () => {
  const leaf = { ...EXPONENTIAL };
  const all = { type: "max-of", limiters: ["b", "c", "b"] };
  assertEquals(loadConfig({ limiters: { a: all, b: "d", c: "d", d: leaf } }).limiter("a").when("x"), 4);
  const issues = issuesOf(() => loadConfig({ limiters: { a: { type: "max-of", limiters: ["leaf", "a"] }, leaf } }));
  assertEquals(issues.map(({ path }) => path), ["/limiters/a/limiters/1"]);
});

Deno.test("rule 10: a chain of ten thousand names loads, and a circle of as many names is reported", () => {
  const count = 10_000;
  for (const indexes of [[...Array(count).keys()], [...Array(count).keys()].reverse()]) {
    const limiters: Record<string, unknown> = Object.fromEntries(indexes.map((i) => [`n${i}`, `n${i + 1}`]));
    const config = loadConfig({ limiters: { ...limiters, [`n${count}`]: EXPONENTIAL } });
    assertEquals(config.limiter("n0").when("a"), 1);
    assertStrictEquals(config.limiter("n0"), config.limiter(`n${count}`));
    const [issue, ...others] = issuesOf(() => loadConfig({ limiters: { ...limiters, [`n${count}`]: "n0" } }));
    assertEquals(others, []);
    assertStringIncludes(issue!.message, "circle");
  }
});

Deno.test("the build order is right for references of any shape, and every circle is found", () => {
  const random = randomNumbers(7);
  for (let round = 0; round < 300; round++) {
    const names = Array.from({ length: 1 + Math.floor(random() * 12) }, (_, i) => `n${i}`);
    const pick = () => names[Math.floor(random() * names.length)]!;
    const references = new Map<string, Reference[]>(names.map((name) => [name, []]));
    const count = Math.floor(random() * names.length * 1.3);
    for (let i = 0; i < count; i++) references.get(pick())!.push({ to: pick(), path: String(i) });

    const { order, circles } = buildOrder(references);
    assertEquals(new Set(order).size, order.length);
    for (const [i, name] of order.entries()) {
      for (const { to } of references.get(name)!) {
        assert(order.slice(0, i).includes(to), "it comes after all it refers to");
      }
    }
    assertEquals(order.length === names.length, circles.length === 0);
    const inCircles = circles.flatMap((circle) => circle.map(({ to }) => to));
    assertEquals(new Set(inCircles).size, inCircles.length, "the circles found share no name");
    for (const circle of circles) {
      for (const [i, { to }] of circle.entries()) {
        assert(references.get(to)!.includes(circle[(i + 1) % circle.length]!), "each refers to the next");
      }
    }
  }
});

Deno.test("rule 10: limiters that ask each other by name ask a bounded number in total", () => {
  const doubling: Record<string, object> = { a0: EXPONENTIAL };
  for (let i = 1; i < 40; i++) doubling[`a${i}`] = { type: "max-of", limiters: [`a${i - 1}`, `a${i - 1}`] };
  assertEquals(issuesOf(() => loadConfig({ limiters: doubling }))[0], {
    path: "/limiters/a12",
    message: '"a12" uses more than 5000 limiters',
  });

  const chain: Record<string, object> = { b0: EXPONENTIAL };
  for (let i = 1; i < 20_000; i++) chain[`b${i}`] = { type: "max-wait", maxDelay: 1, limiter: `b${i - 1}` };
  assertEquals(pathsOf(() => loadConfig({ limiters: chain }))[0], "/limiters/b5000");
  const allowed = Object.fromEntries(Object.entries(chain).slice(0, 5000));
  assertEquals(loadConfig({ limiters: allowed }).limiter("b4999").when("x"), 1, "and the longest chain can be asked");
});

Deno.test("rule 10: five thousand limiters may be nested in one limiter, and one more is refused, once", () => {
  const document = (count: number) => {
    const inner: unknown[] = [];
    for (let left = count - 1; left > 0; left -= 1000) { // each inner max-of counts as one, plus up to 999 in its list
      inner.push({ type: "max-of", limiters: new Array(Math.min(left, 1000) - 1).fill(EXPONENTIAL) });
    }
    return { limiters: { all: { type: "max-of", limiters: inner } } };
  };
  assert(loadConfig(document(5000)).limiter<string>("all").when("a") >= 0);
  for (const count of [5001, 5002, 5900]) {
    const messages = issuesOf(() => loadConfig(document(count))).map(({ message }) => message);
    assertEquals(messages.length, 1);
    assertMatch(messages[0]!, /is one of more than 5000 in one limiter$/);
  }
});
