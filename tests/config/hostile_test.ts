/** Tests of malicious documents. */

import { assert, assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { ConfigError, loadConfig } from "@workqueue/core";
import { issuesOf, pathsOf, whilePolluted } from "../helpers.ts";
import { countingRegistry, EXPONENTIAL } from "./documents.ts";

const NO_OBJECTS: [value: unknown, received: string][] = [
  [null, "null"],
  [[], "an array"],
  [[{}], "an array"],
  [Object.setPrototypeOf([], null), "an array"],
  [5, "5"],
  [NaN, "NaN"],
  [true, "true"],
  [10n, "10n"],
  [Symbol("s"), "a symbol"],
  [() => ({}), "a function"],
  [class {}, "a function"],
  [new Map(), "an object"],
  [new Date(0), "an object"],
  [new (class Limiters {})(), "an object"],
  [Promise.resolve({}), "an object"],
  [Object.create({ limiters: {} }), "an object"],
];

Deno.test("rule 10: a value that is not a plain object is refused where an object is required", () => {
  const places: [document: (value: unknown) => unknown, path: string, rule: string][] = [
    [(value) => value, "", "'config' must be an object"],
    [(value) => ({ limiters: value }), "/limiters", "'limiters' must be an object"],
    [(value) => ({ queues: value }), "/queues", "'queues' must be an object"],
    [(value) => ({ limiters: { a: value } }), "/limiters/a", "'a' must be a limiter or the name of one"],
    [(value) => ({ queues: { q: value } }), "/queues/q", "'q' must be an object"],
    [
      (value) => ({ queues: { q: { limiter: value } } }),
      "/queues/q/limiter",
      "'limiter' must be a limiter or the name of one",
    ],
  ];
  for (const [document, path, rule] of places) {
    for (const [value, received] of NO_OBJECTS) {
      assertEquals(issuesOf(() => loadConfig(document(value) as object)), [{
        path,
        message: `${rule}, got ${received}`,
      }]);
    }
  }
  assertEquals(issuesOf(() => loadConfig('"text"')), [{
    path: "",
    message: `'config' must be an object, got "text"`,
  }]);
  assertEquals(issuesOf(() => loadConfig({ queues: { q: "name" } })), [
    { path: "/queues/q", message: `'q' must be an object, got "name"` },
  ]);
});

Deno.test("rule 10: a type or a name that is not a string is refused", () => {
  for (const [type, received] of NO_OBJECTS) {
    assertEquals(issuesOf(() => loadConfig({ limiters: { a: { type } } })), [
      { path: "/limiters/a/type", message: `'type' must be a string, got ${received}` },
    ]);
    const document = { limiters: { a: { type: "max-of", limiters: [type] } } };
    assertEquals(pathsOf(() => loadConfig(document)), ["/limiters/a/limiters/0"]);
  }
});

/** Returns the current properties of `Object.prototype`. */
function prototypeNow(): unknown[][] {
  return Reflect.ownKeys(Object.prototype).map((key) => {
    const { value, get, set } = Object.getOwnPropertyDescriptor(Object.prototype, key)!;
    return [key, value, get, set];
  });
}

Deno.test("rule 10: keys such as `__proto__` change no prototype, in text and in objects", () => {
  const before = prototypeNow();
  const keys = ["__proto__", "constructor", "prototype"];
  const part = JSON.stringify({ ...EXPONENTIAL, polluted: true });
  const inner = `{ "polluted": true, "type": "bucket", "rate": 1, "burst": 1 }`;
  for (const key of keys) {
    const cases: [text: string, paths: string[]][] = [
      [`{ "${key}": ${inner} }`, [`/${key}`]],
      [`{ "limiters": { "${key}": ${inner} } }`, [`/limiters/${key}`]],
      [`{ "queues": { "${key}": { "concurrency": 1 } } }`, [`/queues/${key}`]],
      [`{ "limiters": { "a": { "type": "bucket", "rate": 1, "burst": 1, "${key}": ${inner} } } }`, [
        `/limiters/a/${key}`,
      ]],
      [`{ "limiters": { "a": { "${key}": ${part} } } }`, ["/limiters/a/type"]],
      [`{ "limiters": { "a": { "type": "${key}" } } }`, ["/limiters/a/type"]],
      [`{ "limiters": { "a": "${key}" } }`, ["/limiters/a"]],
      [`{ "queues": { "q": { "${key}": ${inner} } } }`, [`/queues/q/${key}`]],
      [`{ "queues": { "q": { "limiter": "${key}" } } }`, ["/queues/q/limiter"]],
    ];
    for (const [text, paths] of cases) {
      assertEquals(pathsOf(() => loadConfig(text)), paths, text);
      assertEquals(pathsOf(() => loadConfig(JSON.parse(text))), paths, text);
    }
  }
  assertEquals(prototypeNow(), before);
  assertEquals(({} as { polluted?: boolean }).polluted, undefined);
});

Deno.test("rule 10: names such as `__proto__`, and the empty name, must not be used", () => {
  for (const name of ["", "__proto__", "constructor", "prototype"]) {
    const text = `{ "limiters": { "${name}": "x" }, "queues": { "${name}": 5 } }`;
    assertEquals(issuesOf(() => loadConfig(text)), [
      { path: `/limiters/${name}`, message: `"${name}" must not be used as a name` },
      { path: `/queues/${name}`, message: `"${name}" must not be used as a name` },
    ]);
  }
});

Deno.test("rule 10: members that other code put on Object.prototype are not part of a document", () => {
  const pollution = {
    limiters: { evil: "evil" },
    queues: { evil: {} },
    limiter: "evil",
    concurrency: 0,
    evil: 1,
    $schema: 5,
  };
  const config = whilePolluted(pollution, () => loadConfig({ queues: { q: {} } }));
  assertEquals([config.limiterNames, config.queueNames], [[], ["q"]]);
  assertEquals(Object.keys(config.workers("q")), []);
});

Deno.test("rule 10: a getter or a proxy that throws stops the load, and nothing is built", () => {
  const trap = () => {
    throw new Error("trapped");
  };
  const getter = (key: string) => Object.defineProperty({}, key, { get: trap, enumerable: true });
  const proxy = new Proxy({}, {
    ownKeys: trap,
    get: trap,
    getPrototypeOf: trap,
    has: trap,
    getOwnPropertyDescriptor: trap,
  });
  const before = prototypeNow();
  for (const hostile of [getter("type"), getter("rate"), getter("queues"), getter("limiters"), proxy]) {
    const { created, registry } = countingRegistry();
    const fine = { a: { type: "count" } };
    const documents = [
      hostile,
      { limiters: { ...fine, b: hostile } },
      { limiters: { ...fine, b: { type: "max-of", limiters: [hostile] } } },
      { limiters: fine, queues: { q: hostile } },
      { limiters: fine, queues: { q: { limiter: hostile } } },
    ];
    for (const document of documents) assertThrows(() => loadConfig(document, { limiters: registry }));
    assertEquals(created, []);
  }
  assertEquals(prototypeNow(), before);
});

Deno.test("rule 10: no code of a value runs: no toString, valueOf, toJSON or similar", () => {
  let runs = 0;
  const run = () => String(++runs);
  const trap = {
    toString: run,
    valueOf: run,
    toJSON: run,
    [Symbol.toPrimitive]: run,
  };
  const documents: object[] = [
    {
      limiters: {
        a: trap,
        b: { type: trap },
        c: { type: "bucket", rate: trap, burst: trap },
        d: { type: "max-of", limiters: [trap] },
      },
    },
    {
      limiters: { a: { type: "exponential", baseDelay: trap, maxDelay: trap }, b: { type: "max-of", limiters: trap } },
    },
    { queues: { q: { limiter: trap, concurrency: trap, timeout: trap, maxRetries: trap }, r: trap } },
    { $schema: "x", limiters: trap, queues: trap },
    trap,
  ];
  for (const document of documents) assertThrows(() => loadConfig(document), ConfigError);
  assertEquals(runs, 0);
});

Deno.test("rule 10: a value is read once, so that it cannot change between check and use", () => {
  let reads = 0;
  const document = {
    limiters: {
      a: Object.defineProperty({ type: "exponential", maxDelay: 100 }, "baseDelay", {
        enumerable: true,
        get: () => reads++ === 0 ? 5 : -5,
      }),
    },
  };
  assertEquals(loadConfig(document).limiter("a").when("x"), 5);
  assertEquals(reads, 1);
});

Deno.test("rule 10: a document nested ten thousand deep is refused quickly, as text and as an object", () => {
  const depth = 10_000;
  const nested = (open: string, close: string, leaf = "") => open.repeat(depth) + leaf + close.repeat(depth);
  const leaf = JSON.stringify(EXPONENTIAL);
  const texts: [text: string, path: string][] = [
    [nested("[", "]"), ""],
    [`{ "limiters": ${nested("[", "]")} }`, "/limiters"],
    [`{ "limiters": { "a": ${nested("[", "]")} } }`, "/limiters/a"],
    [`{ "limiters": { "a": { "type": "max-of", "limiters": ${nested("[", "]")} } } }`, "/limiters/a/limiters/0"],
    [
      `{ "limiters": { "a": ${nested(`{ "type": "max-wait", "maxDelay": 1, "limiter": `, "}", leaf)} } }`,
      "/limiters/a/limiter/limiter",
    ],
    [
      `{ "limiters": { "a": ${nested(`{ "type": "max-of", "limiters": [`, "] }", leaf)} } }`,
      "/limiters/a/limiters/0/limiters/0",
    ],
    [
      `{ "queues": { "q": { "limiter": ${nested(`{ "type": "max-of", "limiters": [`, "] }", leaf)} } } }`,
      "/queues/q/limiter/limiters/0",
    ],
    [
      `{ "limiters": { "a": { "type": "bucket", "rate": ${nested(`{ "x": `, "}", "1")}, "burst": 1 } } }`,
      "/limiters/a/rate",
    ],
  ];
  for (const [text, path] of texts) {
    for (const source of [text, JSON.parse(text) as object]) {
      const [issue, ...others] = issuesOf(() => loadConfig(source));
      assert(issue!.path.startsWith(path), issue!.path);
      assertEquals(others, []);
    }
  }
  const [issue] = issuesOf(() => loadConfig(nested("[", "]") + "]"));
  assertStringIncludes(issue!.message, "the text is not JSON");
});

Deno.test("rule 10: an object that contains itself is refused", () => {
  const self: Record<string, unknown> = { type: "max-wait", maxDelay: 1 };
  self.limiter = self;
  const [issue, ...others] = issuesOf(() => loadConfig({ limiters: { self } }));
  assertStringIncludes(issue!.message, "must not be nested in more than 32 other limiters");
  assertEquals(others, []);
  const list: unknown[] = [];
  list.push(list);
  assertEquals(pathsOf(() => loadConfig({ limiters: { a: { type: "max-of", limiters: list } } })), [
    "/limiters/a/limiters/0",
  ]);
  const document: Record<string, unknown> = {};
  document.limiters = document;
  assertEquals(pathsOf(() => loadConfig(document)), ["/limiters/limiters/type"]);
});

/** Returns a limiter config that detects endless reading: it throws after its `type` has been read 20,000 times. */
function readOften(): { type: string; limiters: unknown[] } {
  let reads = 0;
  return {
    get type() {
      if (++reads > 20_000) throw new Error("the same objects are read again and again");
      return "max-of";
    },
    limiters: [],
  };
}

Deno.test("rule 10: objects that contain themselves twice do not double the work at each level", () => {
  const self = readOften();
  self.limiters.push(self, self);
  assertThrows(() => loadConfig({ limiters: { self } }), ConfigError);
});

Deno.test("rule 10: an object in several places does not double the work at each level", () => {
  // YAML anchors create objects like this one.
  let shared: unknown = EXPONENTIAL;
  for (let depth = 0; depth < 25; depth++) {
    const outer = readOften();
    outer.limiters.push(shared, shared);
    shared = outer;
  }
  try {
    loadConfig({ limiters: { shared } });
  } catch (error) {
    assert(error instanceof ConfigError, String(error)); // refusing the document is also correct
  }
});

Deno.test("rule 10: an object that is in many places counts at each place, and is finally refused", () => {
  const itself: Record<string, unknown> = { type: "max-of" };
  itself["limiters"] = Array(1000).fill(itself);
  assert(issuesOf(() => loadConfig({ limiters: { a: itself, b: itself, c: itself } })).length < 20_000);

  const many = { type: "max-of", limiters: Array(900).fill({ type: "exponential", baseDelay: 1, maxDelay: 2 }) };
  const queues = Object.fromEntries(Array.from({ length: 2000 }, (_, i) => [`q${i}`, { limiter: many }]));
  const [issue, ...others] = issuesOf(() => loadConfig({ queues }));
  assertEquals(issue?.message, "'limiters[889]' is one of more than 100000 limiters");
  assertEquals(others, []);
});
