import { assertEquals, assertStringIncludes } from "@std/assert";
import { readdirSync } from "node:fs";
import { incidents } from "../../../packages/simulate/incidents/incidents.ts";
import { FOLDER, longIncidents, readIncident, verdictOn } from "../incidents.ts";

/** Config of an incident: one queue, and nothing else. */
interface Config {
  readonly queues: { readonly jobs: Readonly<Record<string, unknown>> };
}

for (const incident of incidents) {
  const { folder, title, better, worse } = incident;
  if (!longIncidents.includes(folder)) {
    Deno.test(`incident: ${title}: ${better} is better than ${worse}, by as much as the guide says`, async () => {
      const { verdict, expected } = await verdictOn(incident);
      assertStringIncludes(verdict, expected);
    });
  }

  Deno.test(`incident: ${title}: the configs differ in one option`, () => {
    const [one, other] = [better, worse].map((name) => (readIncident(incident, name) as Config).queues.jobs);
    const options = Object.keys({ ...one, ...other });
    const changed = options.filter((option) => JSON.stringify(one![option]) !== JSON.stringify(other![option]));
    assertEquals(changed.length, 1, `changed: ${changed}`);
  });
}

Deno.test("incidents: each folder is listed, and has a load and two configs", () => {
  const folders = readdirSync(FOLDER, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  const listed = incidents.map(({ folder }) => folder);
  assertEquals(longIncidents.filter((folder) => !listed.includes(folder)), []);
  assertEquals(listed.sort(), folders.map(({ name }) => name).sort());
  for (const { folder, better, worse } of incidents) {
    const files = readdirSync(new URL(folder, FOLDER)).sort();
    assertEquals(files, ["load.yaml", `${better}.yaml`, `${worse}.yaml`].sort());
  }
});
