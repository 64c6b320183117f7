/** Tests of the playground in Chromium. The visitor fails a test that makes a request to another origin. */

import { assert, assertEquals } from "@std/assert";
import { type LoadDocument, simulate, type SimulationReport, textOf } from "@workqueue/simulate";
import { parse } from "yaml";
import { playgroundFiles } from "../../../docs/playground/build.ts";
import { CONFIG, LOAD } from "../../../packages/simulate/page/example.ts";
import { browserTest, visit, type Visitor } from "../../dashboard/page/visitor.ts";

let built: Promise<Record<string, string>> | undefined;
let example: Promise<SimulationReport> | undefined;

/** Host of the built files, which serves nothing else. */
class StaticHost implements AsyncDisposable {
  readonly requests: string[] = [];
  readonly #server: Deno.HttpServer<Deno.NetAddr>;

  private constructor(files: Record<string, string>) {
    this.#server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, ({ url }) => {
      const name = new URL(url).pathname.slice(1);
      this.requests.push(name);
      if (name === "favicon.ico") return new Response(null, { status: 204 });
      const text = files[name || "index.html"];
      const type = name.endsWith(".js") ? "text/javascript" : "text/html";
      return new Response(text ?? null, { status: text === undefined ? 404 : 200, headers: { "content-type": type } });
    });
  }

  static async start(): Promise<StaticHost> {
    return new StaticHost(await (built ??= playgroundFiles()));
  }

  get url(): string {
    return `http://127.0.0.1:${this.#server.addr.port}/`;
  }

  /** Address of the page with short texts, which the page simulates sooner than its example. */
  get short(): string {
    return `${this.url}#${encodeURIComponent(JSON.stringify({ config: SHORT_CONFIG, load: SHORT_LOAD }))}`;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#server.shutdown();
  }
}

const configOf = (visitor: Visitor) => visitor.page.getByLabel("Config (YAML)");
const loadOf = (visitor: Visitor) => visitor.page.getByLabel("Load (YAML)");
const reportOf = (visitor: Visitor) => visitor.page.getByRole("region", { name: "Report" });
const textsOf = (visitor: Visitor, list: string) => visitor.page.locator(`#${list} li`).allTextContents();

/** Returns the result of this process for two texts. */
function resultOf(config: string, load: string): Promise<SimulationReport> {
  return simulate(parse(config) as object, parse(load) as LoadDocument);
}

/** Returns the result of this process for the example, which takes seconds. */
function resultOfExample(): Promise<SimulationReport> {
  return example ??= resultOf(CONFIG, LOAD);
}

/** Waits until the page shows the report for two texts. */
async function seesReport(visitor: Visitor, config: string, load: string): Promise<void> {
  await sees(visitor, await resultOf(config, load));
}

/** Waits until the page shows the report of a result. */
async function sees(visitor: Visitor, result: SimulationReport): Promise<void> {
  const expected = textOf(result, 90);
  await visitor.page.waitForFunction(
    `document.getElementById("report").textContent === ${JSON.stringify(expected)}`,
  );
}

const SHORT_CONFIG = "queues: { jobs: { limiter: { type: exponential, baseDelay: 2s, maxDelay: 10s } } }";
const SHORT_LOAD = `duration: 10s
arrivals: [{ type: constant, rate: 2 }]
work: { type: constant, time: 10ms }
`;

browserTest(
  "playground: shows the facts, picture and report of its example, and the report matches this runtime's",
  async () => {
    await using host = await StaticHost.start();
    await using visitor = await visit(host.url);
    const { facts } = await resultOfExample();
    await sees(visitor, await resultOfExample());
    assert(facts.length > 0);
    assertEquals(await textsOf(visitor, "facts"), facts);
    assert(await visitor.page.locator("#picture svg path").count() > 0);
    assertEquals(host.requests.filter((name) => name !== "favicon.ico"), ["", "playground.js", "simulation.js"]);
  },
);

browserTest("playground: an edited config or load changes the report, the delays and the order", async () => {
  await using host = await StaticHost.start();
  await using visitor = await visit(host.url);
  await loadOf(visitor).fill(`${SHORT_LOAD}priorities: { "0": 1, "9": 1 }\n`);
  await configOf(visitor).fill(SHORT_CONFIG);
  await seesReport(visitor, SHORT_CONFIG, `${SHORT_LOAD}priorities: { "0": 1, "9": 1 }\n`);
  assertEquals((await textsOf(visitor, "delays")).slice(0, 5), ["2s", "4s", "8s", "10s", "10s"]);
  const added = (await textsOf(visitor, "order")).map((text) => Number(/\d+/.exec(text)));
  assertEquals(added, added.toSorted((a, b) => a - b), "without a discipline, in the order of arrival");

  const byPriority = SHORT_CONFIG.replace("jobs: {", "jobs: { maxRetries: 2, discipline: { type: priority },");
  await configOf(visitor).fill(byPriority);
  await visitor.page.waitForFunction(`document.querySelectorAll("#delays li").length === 2`);
  const isUrgent = (await textsOf(visitor, "order")).map((text) => text.endsWith("priority 9"));
  assertEquals(isUrgent, [true, true, true, false, false, false]);
});

browserTest("playground: a wrong config or load shows an error and keeps the last report", async () => {
  await using host = await StaticHost.start();
  await using visitor = await visit(host.short);
  await seesReport(visitor, SHORT_CONFIG, SHORT_LOAD);
  const report = await reportOf(visitor).textContent();
  const error = visitor.page.getByRole("alert");
  const wrong: [string, string, RegExp][] = [
    [SHORT_CONFIG.replace("baseDelay: 2s", "baseDelay: soon"), SHORT_LOAD, /\/queues\/jobs\/limiter\/baseDelay/],
    [SHORT_CONFIG, SHORT_LOAD.replace("rate: 2", "rate: -1"), /\/arrivals\/0\/rate/],
    ["queues: {", SHORT_LOAD, /at line 1/],
    ["", SHORT_LOAD, /the config must be an object/],
    [SHORT_CONFIG, "- a", /the load must be an object/],
  ];
  for (const [config, load, message] of wrong) {
    await configOf(visitor).fill(config);
    await loadOf(visitor).fill(load);
    await error.filter({ hasText: message }).waitFor();
    assertEquals(await reportOf(visitor).textContent(), report);
  }
  await configOf(visitor).fill(SHORT_CONFIG);
  await loadOf(visitor).fill(SHORT_LOAD);
  await visitor.page.waitForFunction(`document.getElementById("error").textContent === ""`);
});

/** Load whose simulation takes minutes. */
const LONG_LOAD = SHORT_LOAD.replace("duration: 10s", "duration: 8760h").replace("rate: 2", "rate: 20");

browserTest("playground: an edit replaces a long simulation, and the page stays responsive", async () => {
  await using host = await StaticHost.start();
  await using visitor = await visit(host.short);
  await seesReport(visitor, SHORT_CONFIG, SHORT_LOAD);
  const [long] = await Promise.all([visitor.page.waitForEvent("worker"), loadOf(visitor).fill(LONG_LOAD)]);
  const closed = long.waitForEvent("close");
  await visitor.sees("Simulating …");
  await loadOf(visitor).press("End");
  await loadOf(visitor).pressSequentially("# typed");
  assertEquals(await loadOf(visitor).inputValue(), `${LONG_LOAD}# typed`);
  await visitor.page.evaluate("new Promise(requestAnimationFrame)");
  await visitor.sees("Simulating …");

  await configOf(visitor).fill(SHORT_CONFIG);
  await loadOf(visitor).fill(SHORT_LOAD);
  await seesReport(visitor, SHORT_CONFIG, SHORT_LOAD);
  await closed;
  await visitor.page.waitForFunction(`document.getElementById("status").textContent === ""`);
  assertEquals(visitor.page.workers(), []);
});

browserTest("playground: a worker that fails to load is reported as an error", async () => {
  await using host = await StaticHost.start();
  await using visitor = await visit(host.short, { failures: /404/ });
  await seesReport(visitor, SHORT_CONFIG, SHORT_LOAD);
  await visitor.page.route("**/simulation.js", (route) => route.fulfill({ status: 404 }));
  await loadOf(visitor).fill(`${SHORT_LOAD}# edited\n`);
  await visitor.page.getByRole("alert").filter({ hasText: "Cannot simulate: cannot load 'simulation.js'" }).waitFor();
});

browserTest("playground: the copied address restores both texts", async () => {
  await using host = await StaticHost.start();
  await using visitor = await visit(host.url);
  const load = `${SHORT_LOAD}# 100 % of "ü" & <b>#</b>\n`;
  await configOf(visitor).fill(SHORT_CONFIG);
  await loadOf(visitor).fill(load);
  await visitor.page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await visitor.button("Copy the address of this page").click();
  await visitor.sees("The address contains the config and the load. Copied.");
  const address = visitor.page.url();
  assertEquals(await visitor.page.evaluate("navigator.clipboard.readText()"), address);
  assertEquals(JSON.parse(decodeURIComponent(new URL(address).hash.slice(1))), { config: SHORT_CONFIG, load });

  await using other = await visit(address);
  await seesReport(other, SHORT_CONFIG, load);
  assertEquals([await configOf(other).inputValue(), await loadOf(other).inputValue()], [SHORT_CONFIG, load]);
});

browserTest("playground: axe finds nothing serious, and 320 pixels are wide enough, light and dark", async () => {
  await using host = await StaticHost.start();
  await using visitor = await visit(host.url, { width: 320 });
  await sees(visitor, await resultOfExample());
  assertEquals(await visitor.contentWidth(), 320);
  assertEquals(await visitor.offencesInBothSchemes(), []);
});

browserTest("playground: the tab key reaches both texts, the button and the report", async () => {
  await using host = await StaticHost.start();
  await using visitor = await visit(host.short);
  const reached: unknown[] = [];
  for (let i = 0; i < 4; i++) {
    await visitor.page.keyboard.press("Tab");
    reached.push(await visitor.page.evaluate("document.activeElement.id"));
  }
  assertEquals(reached, ["config", "load", "share", "report"]);
});
