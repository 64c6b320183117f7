import { assertEquals } from "@std/assert";
import { readdirSync } from "node:fs";
import { readConfigFile } from "@workqueue/config-file";
import { compare, type LoadDocument } from "@workqueue/simulate";
import { incidents } from "../../packages/simulate/incidents/incidents.ts";

const FOLDER = new URL("../../packages/simulate/incidents/", import.meta.url);

for (const { folder, title, better, worse, by } of incidents) {
  Deno.test(`incident: ${title}: ${better} is better than ${worse}`, async () => {
    const read = (name: string) => readConfigFile(new URL(`${folder}/${name}.yaml`, FOLDER));
    const configs = { [worse]: read(worse), [better]: read(better) };
    const comparison = await compare(configs, read("load") as LoadDocument, { runs: 3, by });
    assertEquals(comparison.better, 1, comparison.verdict);
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
