/** Tests of access to the dashboard: who may view and control it, and attacks by third-party pages. */

import { assert, assertEquals, assertFalse, assertMatch, assertThrows } from "@std/assert";
import { FakeTime } from "@std/testing/time";
import { createDefaultItemLimiter, createRateLimitingQueue, runWorkers } from "@workqueue/core";
import { type Access, allowLocal, allowToken, createDashboard, type DashboardOptions } from "@workqueue/dashboard";

const TOKEN = "c0ffee00-1111-4222-8333-444455556666";

/** Opens a dashboard for a queue with secret keys. */
function open(options: Partial<DashboardOptions> = {}) {
  const queue = createRateLimitingQueue<string>(createDefaultItemLimiter());
  queue.add("secret-key");
  const pool = runWorkers(queue, () => {}, { concurrency: 2 });
  pool.pause();
  const dashboard = createDashboard({ queues: { images: { queue, pool } }, view: () => true, ...options });
  return { pool, dashboard, [Symbol.dispose]: () => dashboard[Symbol.dispose]() };
}

const PATHS = [
  "",
  "api/state",
  "api/audit",
  "api/plot.js",
  "api/queues/images",
  "api/events",
  "api/events?queue=images",
  "api/queues/none",
];
const ACTIONS = [
  "api/queues/images/pause",
  "api/queues/images/retry",
  "api/reload",
  "api/queues/none/pause",
  "api/none",
];

async function instanceOf(dashboard: { fetch(request: Request): Promise<Response> }, init: RequestInit = {}) {
  const response = await dashboard.fetch(new Request("http://localhost/api/state", init));
  return (await response.json()).instance as string;
}

const rightly = {
  "content-type": "application/json",
  "sec-fetch-site": "same-origin",
};

Deno.test("guard: a visitor without access learns nothing, whatever the request and the way of refusal", async () => {
  const noes: Access[] = [
    () => false,
    () => Promise.resolve(false),
    () => {
      throw new Error("secret");
    },
    () => Promise.reject(new Error("secret")),
    () => 1 as never,
    () => undefined as never,
    allowToken(TOKEN),
  ];
  for (const view of noes) {
    using opened = open({ view, control: () => true });
    for (const [method, paths] of [["GET", PATHS], ["HEAD", PATHS], ["POST", ACTIONS]] as const) {
      for (const path of paths) {
        const init = method === "POST" ? { method, headers: rightly, body: "{}" } : { method };
        const response = await opened.dashboard.fetch(new Request(`http://localhost/${path}`, init));
        assertEquals(response.status, view === noes.at(-1) ? 401 : 403, `${method} ${path}`);
        const text = await response.text();
        assertFalse(/secret|images|instance/.test(text), text);
      }
    }
  }
});

Deno.test("guard: view is called for each request, and control for each request that changes something", async () => {
  const asked: string[] = [];
  using opened = open({
    view: ({ method }) => asked.push(`view ${method}`) > 0,
    control: ({ method }) => asked.push(`control ${method}`) > 0,
  });
  const instance = await instanceOf(opened.dashboard);
  assertEquals(asked.splice(0), ["view GET", "control GET"]);
  const headers = { ...rightly, "x-workqueue-instance": instance };
  const url = "http://localhost/api/queues/images/pause";
  assertEquals((await opened.dashboard.fetch(new Request(url, { method: "POST", headers, body: "{}" }))).status, 200);
  assertEquals(asked, ["view POST", "control POST"]);
});

Deno.test("guard: a view or a control that does not answer denies access after five seconds", async () => {
  using time = new FakeTime();
  const hangs = () => new Promise<boolean>(() => {});
  using opened = open({ control: hangs });
  const state = opened.dashboard.fetch(new Request("http://localhost/api/state"));
  await time.tickAsync(5000);
  assertEquals((await (await state).json()).mayControl, false);
  using closed = open({ view: hangs });
  const page = closed.dashboard.fetch(new Request("http://localhost/"));
  await time.tickAsync(5000);
  assertEquals((await page).status, 403);
});

Deno.test("guard: changes are refused unless control allows them", async () => {
  const noes: (Access | undefined)[] = [
    undefined,
    () => false,
    () => {
      throw new Error("secret");
    },
    () => Promise.reject("secret"),
  ];
  for (const control of noes) {
    using opened = open({ control });
    const state = await (await opened.dashboard.fetch(new Request("http://localhost/api/state"))).json();
    assertEquals([state.mayControl, state.mayReload], [false, false]);
    const headers = { ...rightly, "x-workqueue-instance": state.instance };
    const request = { method: "POST", headers, body: '{ "concurrency": 9 }' };
    const url = "http://localhost/api/queues/images/concurrency";
    const response = await opened.dashboard.fetch(new Request(url, request));
    assertEquals([response.status, opened.pool.concurrency], [403, 2]);
    assertFalse((await response.text()).includes("secret"));
  }
});

const cases: [what: string, headers: Record<string, string | undefined>, status: number][] = [
  ["the page itself", {}, 200],
  ["an old browser with the page", { "sec-fetch-site": undefined, origin: "http://localhost" }, 200],
  ["another scheme, in an old browser", { "sec-fetch-site": undefined, origin: "https://localhost" }, 403],
  ["another scheme, although a proxy forwards it", { origin: "https://localhost", "x-forwarded-proto": "https" }, 403],
  ["neither of both", { "sec-fetch-site": undefined }, 403],
  ["another site", { "sec-fetch-site": "cross-site" }, 403],
  ["another site, with an origin that lies", { "sec-fetch-site": "cross-site", origin: "http://localhost" }, 403],
  ["another port", { "sec-fetch-site": "same-site", origin: "http://localhost:81" }, 403],
  ["another port, in an old browser", { "sec-fetch-site": undefined, origin: "http://localhost:81" }, 403],
  ["another origin", { "sec-fetch-site": undefined, origin: "http://evil.example" }, 403],
  ["a document without an origin", { "sec-fetch-site": undefined, origin: "null" }, 403],
  ["an origin that is none", { "sec-fetch-site": undefined, origin: "localhost" }, 403],
  ["a page behind a proxy that hides itself", { origin: "https://queues.example" }, 403],
  ["the page, with its origin", { origin: "http://localhost" }, 200],
  ["typed into the address", { "sec-fetch-site": "none" }, 403],
  ["a form", { "content-type": "text/plain" }, 400],
  ["another form", { "content-type": "application/x-www-form-urlencoded" }, 400],
  ["a type that begins alike", { "content-type": "application/json-seq" }, 400],
  ["a charset", { "content-type": "Application/JSON; charset=utf-8" }, 200],
  ["no type", { "content-type": "" }, 400],
  ["a stale page", { "x-workqueue-instance": "c0ffee" }, 409],
  ["a program that says of no instance", { "x-workqueue-instance": undefined }, 400],
];

for (const [what, headers, status] of cases) {
  Deno.test(`guard: a change requested by ${what}: ${status}`, async () => {
    using opened = open({ control: () => true });
    const instance = await instanceOf(opened.dashboard);
    const all: Record<string, string | undefined> = { ...rightly, "x-workqueue-instance": instance, ...headers };
    const given = Object.entries(all).filter((header): header is [string, string] => header[1] !== undefined);
    const url = "http://localhost/api/queues/images/concurrency";
    const body = new TextEncoder().encode('{ "concurrency": 9 }'); // a string body would set a content type
    const request = new Request(url, { method: "POST", headers: given, body });
    const response = await opened.dashboard.fetch(request);
    assertEquals([response.status, opened.pool.concurrency], [status, status === 200 ? 9 : 2]);
    if (status === 409) assertMatch((await response.json()).error, /the page shows a process that has ended/);
  });
}

const named: [origin: string, status: number][] = [
  ["https://queues.example", 200],
  ["http://localhost", 200],
  ["http://queues.example", 403],
  ["https://queues.example:8443", 403],
  ["https://evil.example", 403],
];

for (const [origin, status] of named) {
  Deno.test(`guard: with a public origin, a change requested by a page of ${origin}: ${status}`, async () => {
    using opened = open({ control: () => true, origins: ["https://queues.example"] });
    const headers = { ...rightly, origin, "x-workqueue-instance": await instanceOf(opened.dashboard) };
    const url = "http://localhost/api/queues/images/concurrency";
    const request = new Request(url, { method: "POST", headers, body: '{ "concurrency": 9 }' });
    const response = await opened.dashboard.fetch(request);
    assertEquals([response.status, opened.pool.concurrency], [status, status === 200 ? 9 : 2]);
    if (status === 403) {
      assertMatch((await response.json()).error, /must be "http:\/\/localhost" or "https:\/\/queues\.example"/);
    }
  });
}

for (const origins of ["https://queues.example", ["queues.example"], ["https://queues.example/"], ["null"], [1]]) {
  Deno.test(`guard: invalid origins are refused: ${JSON.stringify(origins)}`, () => {
    assertThrows(() => open({ origins: origins as string[] }), TypeError, "'origins' must be a list of origins");
  });
}

Deno.test("guard: if the function `control` tries to read the body, access is denied", async () => {
  using opened = open({ control: async (request) => (await request.text()) !== "" });
  const headers = { ...rightly, "x-workqueue-instance": await instanceOf(opened.dashboard) };
  const url = "http://localhost/api/queues/images/concurrency";
  const request = new Request(url, { method: "POST", headers, body: '{ "concurrency": 9 }' });
  assertEquals([(await opened.dashboard.fetch(request)).status, opened.pool.concurrency], [403, 2]);
});

Deno.test("guard: other methods are refused, and so are changes by GET", async () => {
  using opened = open({ control: () => true });
  for (const method of ["PUT", "DELETE", "OPTIONS", "PATCH"]) {
    const response = await opened.dashboard.fetch(new Request("http://localhost/api/state", { method }));
    assertEquals([response.status, response.headers.get("allow")], [405, "GET, HEAD, POST"]);
  }
  for (const path of ["api/queues/images/pause", "api/reload"]) {
    assertEquals((await opened.dashboard.fetch(new Request(`http://localhost/${path}`))).status, 405);
  }
});

Deno.test("guard: a body is at most 64 kB, whatever its declared length", async () => {
  using opened = open({ control: () => true });
  const headers = { ...rightly, "x-workqueue-instance": await instanceOf(opened.dashboard) };
  const post = async (body: BodyInit, init: object = {}) => {
    const url = "http://localhost/api/queues/images/pause";
    return (await opened.dashboard.fetch(new Request(url, { method: "POST", headers, body, ...init }))).status;
  };
  assertEquals(await post(`{}${" ".repeat(64 * 1024 - 2)}`), 200);
  assertEquals(await post(`{}${" ".repeat(64 * 1024)}`), 400);
  const endless = new ReadableStream<Uint8Array>({ pull: (controller) => controller.enqueue(new Uint8Array(1000)) });
  assertEquals(await post(endless, { duplex: "half" }), 400);
});

Deno.test("guard: every answer has headers that restrict its use and forbid caching", async () => {
  using opened = open();
  for (const path of [...PATHS, "no-slash", "api/events?limit=0"]) {
    const controller = new AbortController();
    const request = new Request(`http://localhost/${path}`, { signal: controller.signal });
    const { headers, status } = await opened.dashboard.fetch(request);
    controller.abort();
    const expected = {
      "cache-control": "no-store",
      "cross-origin-opener-policy": "same-origin",
      "cross-origin-resource-policy": "same-origin",
      "referrer-policy": "no-referrer",
      "x-content-type-options": "nosniff",
    };
    for (const [name, value] of Object.entries(expected)) assertEquals(headers.get(name), value, `${path}: ${name}`);
    assertMatch(headers.get("content-security-policy")!, /default-src 'none';.*frame-ancestors 'none'/);
    assertEquals(headers.get("access-control-allow-origin"), null);
    const isScript = path === "api/plot.js";
    if (isScript) assertEquals(headers.get("content-type"), "text/javascript; charset=utf-8");
    const isApi = path.startsWith("api/") && !path.startsWith("api/events") && !isScript || status === 400;
    if (isApi) assertEquals(headers.get("content-type"), "application/json");
  }
});

Deno.test("guard: the page's policy allows its own script and style, and nothing from elsewhere", async () => {
  using opened = open();
  const response = await opened.dashboard.fetch(new Request("http://localhost/"));
  const [page, policy] = [await response.text(), response.headers.get("content-security-policy")!];
  assertEquals(response.headers.get("content-type"), "text/html; charset=utf-8");
  for (const tag of ["script", "style"]) {
    const [, text] = new RegExp(`<${tag}\\b[^>]*>([^]*?)</${tag}>`).exec(page)!;
    const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
    const hash = btoa(String.fromCharCode(...new Uint8Array(digest)));
    assert(policy.includes(`${tag}-src 'sha256-${hash}'`), policy);
  }
  assertFalse(/unsafe|http/.test(policy));
  for (const part of ["connect-src 'self'", "img-src data:", "base-uri 'none'", "form-action 'none'"]) {
    assert(policy.split("; ").includes(part), part);
  }
});

Deno.test("guard: the page works at any path, and a path without a final slash is redirected to the one with it", async () => {
  using opened = open();
  const get = async (path: string) => {
    const response = await opened.dashboard.fetch(new Request(`http://localhost${path}`));
    await response.body?.cancel();
    return [response.status, response.headers.get("location")];
  };
  assertEquals(await get("/"), [200, null]);
  assertEquals(await get("/ops/queues/"), [200, null]);
  assertEquals(await get("/ops/queues"), [302, "./queues/"]);
  assertEquals(await get("/ops/queues?queue=a"), [302, "./queues/?queue=a"]);
  assertEquals(await get("//evil.example"), [302, "./evil.example/"]);
  assertEquals(await get("/javascript:alert(1)"), [302, "./javascript:alert(1)/"]);
  assertEquals(await get("/ops/api/state"), [200, null]);
  assertEquals(await get("/api/queues/api/queues/images"), [200, null]);
  assertEquals(await get("/api/queues/toString"), [404, null]);
  assertEquals(await get("/api/queues/%E0%A4%A"), [302, "./%E0%A4%A/"]);
});

/** Second arguments that servers pass if they don't report the client's address. */
const NO_ADDRESS: readonly unknown[] = [
  undefined,
  null,
  7,
  {},
  { remoteAddr: { transport: "unix", path: "/run/app.sock" } },
  { requestIP: () => null },
  { incoming: { socket: { remoteAddress: undefined } } },
];

const local: [url: string, headers: Record<string, string>, peer: string | undefined, isLocal: boolean][] = [
  ["http://localhost:8000/", {}, undefined, false],
  ["http://127.0.0.1/", {}, undefined, false],
  ["http://localhost:8000/", {}, "127.0.0.1", true],
  ["http://LOCALHOST./", {}, "127.0.0.1", true],
  ["http://queues.localhost/", {}, "127.0.0.1", true],
  ["http://127.0.0.1/", {}, "127.0.0.1", true],
  ["http://127.8.9.10/", {}, "127.0.0.1", true],
  ["http://[::1]:80/", {}, "::1", true],
  ["http://localhost/", {}, "::ffff:127.0.0.1", true],
  ["http://localhost/", {}, "10.0.0.7", false],
  ["http://localhost/", {}, "::ffff:10.0.0.7", false],
  ["http://localhost/", {}, "fe80::1", false],
  ["http://evil.example/", {}, "127.0.0.1", false],
  ["http://localhost.evil.example/", {}, "127.0.0.1", false],
  ["http://evillocalhost/", {}, "127.0.0.1", false],
  ["http://127.0.0.1.evil.example/", {}, "127.0.0.1", false],
  ["http://0.0.0.0/", {}, "127.0.0.1", false],
  ["http://10.0.0.7/", {}, "127.0.0.1", false],
  ["http://[::2]/", {}, "127.0.0.1", false],
  ["http://localhost/", { host: "evil.example" }, "127.0.0.1", false],
  ["http://localhost/", { "x-forwarded-for": "10.0.0.7" }, "127.0.0.1", false],
  ["http://localhost/", { forwarded: "for=10.0.0.7" }, "127.0.0.1", false],
  ["http://localhost/", { "x-forwarded-proto": "https" }, "127.0.0.1", false],
  ["http://localhost/", { "cf-connecting-ip": "10.0.0.7" }, "127.0.0.1", false],
  ["http://localhost/", { "x-cluster-client-ip": "10.0.0.7" }, "127.0.0.1", false],
  ["http://localhost/", { "fastly-client-ip": "10.0.0.7" }, "127.0.0.1", false],
  ["http://localhost/", { "x-azure-clientip": "10.0.0.7" }, "127.0.0.1", false],
  ["http://localhost/", { "x-original-forwarded-for": "10.0.0.7" }, "127.0.0.1", false],
  ["http://localhost/", { "x-envoy-external-address": "10.0.0.7" }, "127.0.0.1", false],
  ["http://localhost/", { origin: "https://queues.example" }, "127.0.0.1", false],
  ["http://localhost/", { origin: "http://localhost:80" }, "127.0.0.1", true],
];

for (const [url, headers, peer, isLocal] of local) {
  const from = peer === undefined ? "" : ` from ${peer}`;
  const with_ = Object.keys(headers).length === 0 ? "" : ` with ${Object.keys(headers)}`;
  Deno.test(`allowLocal: ${url}${from}${with_}: ${isLocal}`, async () => {
    const infos: readonly unknown[] = peer === undefined ? NO_ADDRESS : [
      { remoteAddr: { transport: "tcp", hostname: peer, port: 1 } },
      { requestIP: () => ({ address: peer, family: "IPv4", port: 1 }) },
      { incoming: { socket: { remoteAddress: peer } } },
    ];
    using opened = open({ view: allowLocal });
    for (const info of infos) {
      const request = new Request(url);
      for (const [name, value] of Object.entries(headers)) request.headers.set(name, value);
      // Some runtimes forbid a `host` header in a request.
      if (Object.keys(headers).some((name) => !request.headers.has(name))) continue;
      assertEquals((await opened.dashboard.fetch(request, info)).status, isLocal ? 200 : 403);
    }
  });
}

Deno.test("allowLocal: a refusal says how to open the page, and not which check failed", async () => {
  using opened = open({ view: allowLocal, control: allowLocal });
  const texts = new Set<string>();
  for (const peer of ["10.0.0.7", "127.0.0.1"]) {
    const request = new Request("http://queues.example/api/state");
    const response = await opened.dashboard.fetch(request, { remoteAddr: { hostname: peer } });
    assertEquals(response.status, 403);
    texts.add((await response.json()).error);
  }
  assertEquals([...texts], [
    "Not allowed: 'view' of this dashboard denies access; open it on the same machine, at localhost, and not through a proxy.",
  ]);
});

Deno.test("allowToken: accepts a bearer token, or a cookie that the address with the token sets", async () => {
  using opened = open({ view: allowToken(TOKEN) });
  const get = (path: string, headers: Record<string, string> = {}, origin = "http://queues.example") =>
    opened.dashboard.fetch(new Request(origin + path, { headers }));
  const status = async (headers: Record<string, string>) => (await get("/api/state", headers)).status;

  assertEquals(await status({ authorization: `Bearer ${TOKEN}` }), 200);
  assertEquals(await status({ authorization: `bearer  ${TOKEN}` }), 200);
  for (const wrong of [`Bearer ${TOKEN}0`, `Bearer ${TOKEN.slice(1)}`, "Bearer", "Bearer ", TOKEN, `Basic ${TOKEN}`]) {
    assertEquals(await status({ authorization: wrong }), 401, wrong);
  }
  const refused = await get("/ops/");
  assertEquals([refused.status, refused.headers.get("www-authenticate")], [401, "Bearer"]);

  const signedIn = await get(`/ops/queues/?a=1&token=${TOKEN}&b=2`);
  assertEquals([signedIn.status, signedIn.headers.get("location")], [302, "./?a=1&b=2"]);
  const [cookie, ...attributes] = signedIn.headers.get("set-cookie")!.split("; ");
  assertEquals(attributes, ["Path=/ops/queues/", "HttpOnly", "SameSite=Lax"]);
  assertFalse(cookie!.includes(TOKEN));
  assertEquals(await status({ cookie: cookie! }), 200);
  assertEquals(await status({ cookie: `other=1; ${cookie}; more=2` }), 200);
  assertEquals(await status({ cookie: `${cookie}0` }), 401);
  assertEquals(await status({ cookie: `${cookie!.split("=")[0]}=` }), 401);

  const secure = await get(`/ops/queues?token=${TOKEN}`, {}, "https://queues.example");
  assertEquals(secure.headers.get("location"), "./queues/");
  assertMatch(secure.headers.get("set-cookie")!, /; Path=\/ops\/queues\/; HttpOnly; SameSite=Lax; Secure$/);
  for (
    const [proto, isSecure] of [["https", true], ["https,http", true], [" HTTPS , http", true], [
      "http,https",
      false,
    ]] as const
  ) {
    const forwarded = await get(`/ops/?token=${TOKEN}`, { "x-forwarded-proto": proto });
    assertEquals(/; Secure$/.test(forwarded.headers.get("set-cookie")!), isSecure, proto);
  }
  const state = await get(`/ops/api/state?token=${TOKEN}`);
  assertEquals([state.headers.get("location"), /Path=\/ops\/;/.test(state.headers.get("set-cookie")!)], [
    "./state",
    true,
  ]);
  const wrong = await get(`/ops/?token=${TOKEN}1`);
  assertEquals([wrong.status, wrong.headers.get("set-cookie")], [401, null]);
});

Deno.test("allowToken: there is one token for viewers and another for control", async () => {
  using opened = open({ view: allowToken(TOKEN, `${TOKEN}-steer`), control: allowToken(`${TOKEN}-steer`) });
  const signedIn = await opened.dashboard.fetch(new Request(`http://queues.example/?token=${TOKEN}-steer`));
  const cookie = signedIn.headers.get("set-cookie")!.split("; ")[0]!;
  const state = await opened.dashboard.fetch(new Request("http://queues.example/api/state", { headers: { cookie } }));
  assertEquals((await state.json()).mayControl, true);
  const headers = { authorization: `Bearer ${TOKEN}` };
  const looked = await opened.dashboard.fetch(new Request("http://queues.example/api/state", { headers }));
  assertEquals((await looked.json()).mayControl, false);
});

Deno.test("allowToken: a token of a user gives their name", async () => {
  const view = allowToken({ alice: TOKEN, bob: `${TOKEN}-bob` });
  const ask = (token: string) =>
    view(new Request("http://queues.example/", { headers: { authorization: `Bearer ${token}` } }));
  assertEquals([await ask(TOKEN), await ask(`${TOKEN}-bob`), await ask(`${TOKEN}-eve`)], ["alice", "bob", false]);
  for (const tokens of [{}, { "": TOKEN }]) {
    assertThrows(() => allowToken(tokens), TypeError, "each token must have a name that is not empty");
  }
  assertThrows(() => allowToken({ alice: TOKEN, bob: TOKEN }), TypeError, "each name must have its own token");
  assertThrows(() => allowToken([TOKEN] as never), TypeError, "'token' must be a string");
  assertThrows(() => allowToken({ alice: "short" }), TypeError, "got a string of length 5");
  assertThrows(() => allowToken({ alice: TOKEN } as never, TOKEN), TypeError, "'token' must be a string");
});

Deno.test("allowToken: a user who signs in replaces the previous user in this browser", async () => {
  const tokens = { alice: TOKEN, bob: `${TOKEN}-bob` };
  const view = allowToken(tokens);
  using opened = open({ view });
  const jar = new Map<string, string>();
  const cookie = () => Array.from(jar, ([name, value]) => `${name}=${value}`).join("; ");
  for (const user of ["alice", "bob", "alice"] as const) {
    const request = new Request(`http://queues.example/?token=${tokens[user]}`, { headers: { cookie: cookie() } });
    for (const set of (await opened.dashboard.fetch(request)).headers.getSetCookie()) {
      const [, name, value, rest] = /^(.*?)=(.*?); (.*)$/.exec(set)!;
      if (rest!.startsWith("Max-Age=0; Path=/;")) jar.delete(name!);
      else jar.set(name!, value!);
    }
    assertEquals(await view(new Request("http://queues.example/", { headers: { cookie: cookie() } })), user);
  }
});

Deno.test("allowToken: short tokens are refused, and no error shows a token", () => {
  for (
    const token of [
      "",
      "short",
      "x".repeat(15),
      "xxx1xxx2xxx3xxx4xxx5xxx6",
      "with spaces in it, and long",
      "ümläute-ümläute-ümläute",
      undefined,
      7,
    ]
  ) {
    const error = assertThrows(() => allowToken(token as never));
    assert(error instanceof TypeError || error instanceof RangeError);
    assertFalse((error as Error).message.includes("short") || (error as Error).message.includes("xxx"));
  }
});

Deno.test("createDashboard: options are checked", () => {
  const queue = createRateLimitingQueue<string>(createDefaultItemLimiter());
  const refused: [options: object, message: string][] = [
    [{ queues: {} }, "Cannot create dashboard: 'view' must be a function, such as allowLocal, got undefined"],
    [{ view: () => true }, "'queues' must be an object that maps names to queues, got undefined"],
    [{ queues: {}, view: true }, "'view' must be a function, got true"],
    [{ queues: {}, view: allowLocal, contrl: allowLocal }, '"contrl" is not an option here; did you mean "control"?'],
    [
      { queues: { a: {} }, view: allowLocal },
      `Cannot create dashboard with queue "a": 'queue' must be a rate limiting queue, in memory, on Redis or in a file, got undefined`,
    ],
    [{ queues: { a: { queue: {} } }, view: allowLocal }, "'queue' must be a rate limiting queue"],
    [{ queues: { a: { queue, pool: {} } }, view: allowLocal }, "'pool' must be a pool returned by runWorkers"],
    [{ queues: { a: { queue, keyText: "id" } }, view: allowLocal }, "'keyText' must be a function"],
    [{ queues: { a: { queue, onTakeBack: "log" } }, view: allowLocal }, "'onTakeBack' must be a function"],
    [{ queues: { "..": { queue } }, view: allowLocal }, 'queue "..": URLs cannot contain that name'],
    [{ queues: { "": { queue } }, view: allowLocal }, 'queue "": URLs cannot contain that name'],
    [{ queues: { a: queue }, view: allowLocal }, 'Cannot create dashboard with queue "a":'],
    [{ queues: {}, view: allowLocal, config: {} }, "'config' must be a config returned by loadConfig"],
    [{ queues: {}, view: allowLocal, onSteer: "log" }, "'onSteer' must be a function"],
    [{ queues: {}, view: allowLocal, readConfig: () => ({}) }, "'readConfig' requires 'config'"],
  ];
  for (const [options, message] of refused) {
    assertThrows(() => createDashboard(options as never), TypeError, message);
  }
});
