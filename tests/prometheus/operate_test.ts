/**
 * Tests of the files in `docs/operate/`: the dashboard must show the work of a program, and the rules must alert when
 * they should.
 */

import { assert, assertAlmostEquals, assertEquals } from "@std/assert";
import { metricFamilies } from "@workqueue/core/metrics";
import { controllerMetrics } from "@workqueue/prometheus";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Registry } from "prom-client";
import { parse } from "yaml";
import { DID } from "./program.ts";
import { PROMTOOL, promtool } from "./promtool.ts";
import { type Scraped, scrapedTest } from "./scraped.ts";

const folder = new URL("../../docs/operate/", import.meta.url);
const read = (file: string) => readFileSync(new URL(file, folder), "utf8");

interface Dashboard {
  templating: { list: { name: string; query: string | { query: string } }[] };
  panels: {
    id: number;
    title: string;
    type: string;
    fieldConfig: { defaults: { noValue?: string; mappings?: { options: { result: object } }[] } };
    targets: { expr: string; legendFormat: string }[];
  }[];
}

interface Rules {
  groups: {
    rules: { alert: string; expr: string; annotations: Record<"summary" | "description" | "runbook", string> }[];
  }[];
}

const dashboard = JSON.parse(read("dashboard.json")) as Dashboard;
const rules = (parse(read("alerts.yml")) as Rules).groups.flatMap(({ rules }) => rules);
const queries = [
  ...dashboard.templating.list.map(({ query }) => typeof query === "string" ? query : query.query),
  ...dashboard.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)),
  ...rules.map(({ expr }) => expr),
];

/**
 * Returns the query that Grafana would send for the selected queues. The time range is wide enough for a slow machine.
 */
function filledIn(expr: string, name = ".*"): string {
  return expr.replaceAll("$name", name).replaceAll("$__rate_interval", "5m").replaceAll("$__range", "5m");
}

/** Returns the values by queue for each line of a panel. */
async function shown(scraped: Scraped, title: string): Promise<Record<string, number>[]> {
  const { targets } = dashboard.panels.find((panel) => panel.title === title)!;
  return await Promise.all(targets.map(({ expr }) => scraped.ask(filledIn(expr))));
}

Deno.test("docs/operate: every metric in the files is exported, and every exported metric is in the files", () => {
  const exported = Object.values(metricFamilies).flatMap(({ name, kind }) =>
    kind === "histogram" ? [`${name}_bucket`, `${name}_count`, `${name}_sum`] : [name]
  );
  const asked = new Set(queries.flatMap((query) => query.match(/\bworkqueue_\w+/g) ?? []));
  assertEquals([...asked].filter((name) => !exported.includes(name)), []);
  for (const { name } of Object.values(metricFamilies)) assert(queries.some((query) => query.includes(name)), name);
});

Deno.test("docs/operate/metrics.md: the tables list the exported metrics, of queues and of controllers, in order", () => {
  const named = [...read("metrics.md").matchAll(/^\| `(\w+_\w+)` /gm)].map(([, name]) => name);
  const ofQueues = Object.values(metricFamilies).map(({ name }) => name);
  const register = new Registry();
  controllerMetrics(register);
  const ofControllers = register.getMetricsAsArray().map(({ name }) => name).filter((name) => !ofQueues.includes(name));
  assertEquals(named, [...ofQueues, ...ofControllers]);
});

Deno.test("docs/operate/dashboard.json: a panel without data says so, in a color that no verdict has", () => {
  for (const { title, type, fieldConfig: { defaults } } of dashboard.panels) {
    assertEquals(defaults.noValue, "no data", title);
    if (type === "stat") assertEquals(defaults.mappings?.[0]?.options.result, { text: "no data", color: "purple" });
  }
});

Deno.test("docs/operate/dashboard.json: each panel has its own number, and its lines can be told apart", () => {
  const ids = dashboard.panels.map(({ id }) => id);
  assertEquals(new Set(ids).size, ids.length);
  for (const { title, targets } of dashboard.panels) {
    assertEquals(new Set(targets.map(({ legendFormat }) => legendFormat)).size, targets.length, title);
  }
});

scrapedTest("docs/operate/dashboard.json: every panel has a value for what the program did", async (scraped) => {
  for (const { title } of dashboard.panels) {
    for (const line of await shown(scraped, title)) {
      const value = line["images"] ?? line[""];
      assert(value !== undefined && Number.isFinite(value), `${title}: ${JSON.stringify(line)}`);
    }
  }
});

scrapedTest("docs/operate/dashboard.json: the verdicts are right for the queue in the worst state", async (scraped) => {
  const verdict = async (title: string) => (await shown(scraped, title))[0]![""]!;
  assertEquals(await verdict("Oldest ready"), DID.oldestReady);
  assertAlmostEquals(await verdict("Attempts that fail"), DID.failures / DID.done);
  assertEquals(await verdict("Workers busy"), DID.active / DID.concurrency);
  assertEquals(await verdict("Longest running"), DID.longestRunning);
  const given = await verdict("Given up");
  assert(given >= DID.givenUp && given < 2 * DID.givenUp, String(given));
  assert(await verdict("Backlog grows by") > 0);
});

scrapedTest("docs/operate/dashboard.json: a verdict on a removed queue has no value", async (scraped) => {
  for (const { title, targets } of dashboard.panels.filter(({ type }) => type === "stat")) {
    assertEquals(await scraped.ask(filledIn(targets[0]!.expr, "gone")), {}, title);
    const idle = (await scraped.ask(filledIn(targets[0]!.expr, "idle")))[""];
    assertEquals(idle, 0, title);
  }
});

scrapedTest("docs/operate/dashboard.json: the graphs are right for each queue", async (scraped) => {
  const lines = async (title: string) => (await shown(scraped, title)).map(({ images }) => images!);
  assertEquals(await lines("Ready, blocked, delayed, active"), [
    DID.ready,
    0,
    DID.delayed,
    DID.active,
    DID.concurrency,
  ]);
  assertEquals(await lines("Oldest ready, longest running"), [DID.oldestReady, DID.longestRunning]);
  assertEquals(await lines("Unfinished work"), [DID.unfinished]);
  assertEquals(await lines("Ready, by priority"), [DID.ready]);
  for (
    const [title, expected] of [
      ["Time in the queue", [DID.latency(0.5), DID.latency(0.99)]],
      ["Time at work", [DID.workDuration(0.5), DID.workDuration(0.99)]],
    ] as const
  ) (await lines(title)).forEach((value, i) => assertAlmostEquals(value, expected[i]!));

  // Prometheus knows the values of counters only at each scrape, so all rates are too high by the same small factor.
  const rates = [...await lines("In and out"), ...await lines("Failures, retries, given up")];
  const counted = [DID.adds, DID.handedOut, DID.done, DID.failures, DID.retries, DID.givenUp];
  rates.forEach((rate, i) => assertAlmostEquals(rate / rates[0]!, counted[i]! / DID.adds));
  const factor = rates[0]! * 300 / DID.adds;
  assert(factor >= 1 && factor < 2, String(factor));

  const idle = (await shown(scraped, "Ready, blocked, delayed, active")).map(({ idle }) => idle);
  assertEquals(idle.slice(0, 3), [0, 0, 0]);
});

scrapedTest(
  "docs/operate/alerts.yml: Prometheus accepts every rule, and no alert fires for an idle queue",
  async (scraped) => {
    for (const { expr, alert } of rules) assert(!("idle" in await scraped.ask(expr)), alert);
  },
);

for (const [command, file] of [["check", "alerts.yml"], ["test", "alerts_test.yml"]] as const) {
  Deno.test({
    name: `docs/operate/${file}: promtool ${command} rules`,
    ignore: PROMTOOL === undefined,
    fn: async () => void await promtool(command, fileURLToPath(new URL(file, folder))),
  });
}

Deno.test({
  name: "docs/operate/dashboard.json: promtool accepts every query",
  ignore: PROMTOOL === undefined,
  async fn() {
    const rules = dashboard.panels.flatMap(({ id, targets }) =>
      targets.map(({ expr }, i) => ({ record: `panel_${id}:query_${i}`, expr: filledIn(expr) }))
    );
    const stdout = await promtool("check", { groups: [{ name: "panels", rules }] });
    assert(stdout.includes(`SUCCESS: ${rules.length} rules found`), stdout);
  },
});

Deno.test("docs/operate/alerts.yml: each rule names the problem, the place to look, and the docs section", () => {
  for (const { alert, expr, annotations: { summary, description, runbook } } of rules) {
    assert(/\{\{ \$labels\.(name|job) \}\}/.test(summary) || expr.startsWith("absent("), alert);
    assert(/\bCheck (the|whether|which)\b/.test(description), alert);
    assertEquals(runbook, `docs/operate/alerts.md#${alert.toLowerCase()}`);
    assert(read("alerts.md").includes(`\n## ${alert}\n`), alert);
  }
});

Deno.test("docs/operate/alerts_test.yml: each rule is tested", () => {
  for (const { alert } of rules) assert(read("alerts_test.yml").includes(`alertname="${alert}"`), alert);
});
