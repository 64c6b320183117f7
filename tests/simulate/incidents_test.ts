import { assertEquals } from "@std/assert";
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
  const folders = [...Deno.readDirSync(FOLDER)].filter(({ isDirectory }) => isDirectory).map(({ name }) => name).sort();
  assertEquals(incidents.map(({ folder }) => folder).sort(), folders);
  for (const { folder, better, worse } of incidents) {
    const files = [...Deno.readDirSync(new URL(folder, FOLDER))].map(({ name }) => name).sort();
    assertEquals(files, ["load.yaml", `${better}.yaml`, `${worse}.yaml`].sort());
  }
});
