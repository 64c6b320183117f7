import { assertEquals, assertStringIncludes } from "@std/assert";
import { readdirSync, readFileSync } from "node:fs";
import { readConfigFile } from "@workqueue/config-file";
import { compare, type LoadDocument } from "@workqueue/simulate";
import { incidents } from "../../../packages/simulate/incidents/incidents.ts";

/** Config of an incident: one queue, and nothing else. */
interface Config {
  readonly queues: { readonly jobs: Readonly<Record<string, unknown>> };
}

const FOLDER = new URL("../../../packages/simulate/incidents/", import.meta.url);

/** Rows of the table in the guide, by the name of the incident's folder. */
const rows = new Map(
  readFileSync(new URL("../../../docs/simulate.md", import.meta.url), "utf8").split("\n").flatMap((line) => {
    const cells = line.split("|").map((cell) => cell.trim());
    const folder = /\(`(.+)`\)$/.exec(cells[1] ?? "")?.[1];
    return folder === undefined ? [] : [[folder, { worse: cells[4], better: cells[5] }]] as const;
  }),
);

for (const { folder, title, better, worse, by } of incidents) {
  const read = (name: string) => readConfigFile(new URL(`${folder}/${name}.yaml`, FOLDER));

  Deno.test(`incident: ${title}: ${better} is better than ${worse}, by as much as the guide says`, async () => {
    const configs = { [worse]: read(worse), [better]: read(better) };
    const comparison = await compare(configs, read("load") as LoadDocument, { by });
    assertEquals(comparison.better, 1, comparison.verdict);
    const row = rows.get(folder)!;
    assertStringIncludes(comparison.verdict, ` is ${row.better}, compared to ${row.worse} with ${worse}.`);
  });

  Deno.test(`incident: ${title}: the configs differ in one option`, () => {
    const [one, other] = [better, worse].map((name) => (read(name) as Config).queues.jobs);
    const options = Object.keys({ ...one, ...other });
    const changed = options.filter((option) => JSON.stringify(one![option]) !== JSON.stringify(other![option]));
    assertEquals(changed.length, 1, `changed: ${changed}`);
  });
}

Deno.test("incidents: each folder is listed, and has a load and two configs", () => {
  const folders = readdirSync(FOLDER, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  assertEquals(incidents.map(({ folder }) => folder).sort(), folders.map(({ name }) => name).sort());
  for (const { folder, better, worse } of incidents) {
    const files = readdirSync(new URL(folder, FOLDER)).sort();
    assertEquals(files, ["load.yaml", `${better}.yaml`, `${worse}.yaml`].sort());
  }
});
