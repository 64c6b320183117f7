/** Checks that a simulated incident ends as the table in `docs/simulate.md` says. */

import { readFileSync } from "node:fs";
import { readConfigFile } from "@workqueue/config-file";
import { compare, type LoadDocument } from "@workqueue/simulate";
import type { Incident } from "../../packages/simulate/incidents/incidents.ts";

/** Folders of incidents that take longest to simulate. Only `deno task prove` simulates them. */
export const longIncidents: readonly string[] = [
  "events-during-backoff",
  "metastable-overload",
  "retry-budget",
  "retry-storm",
  "tenant-429",
];

/** Folder of the incidents. */
export const FOLDER: URL = new URL("../../packages/simulate/incidents/", import.meta.url);

/** Rows of the table in the guide, by the name of the incident's folder. */
const rows = new Map(
  readFileSync(new URL("../../docs/simulate.md", import.meta.url), "utf8").split("\n").flatMap((line) => {
    const cells = line.split("|").map((cell) => cell.trim());
    const folder = /\(`(.+)`\)$/.exec(cells[1] ?? "")?.[1];
    return folder === undefined ? [] : [[folder, { worse: cells[4], better: cells[5] }]] as const;
  }),
);

/** Reads a file of an incident. */
export function readIncident({ folder }: Incident, name: string): string | object {
  return readConfigFile(new URL(`${folder}/${name}.yaml`, FOLDER));
}

/** Returns the verdict of a simulation, and the end of the verdict that follows from the guide. */
export async function verdictOn(incident: Incident): Promise<{ verdict: string; expected: string }> {
  const { folder, better, worse, by } = incident;
  const configs = { [worse]: readIncident(incident, worse), [better]: readIncident(incident, better) };
  const comparison = await compare(configs, readIncident(incident, "load") as LoadDocument, { by });
  if (comparison.better !== 1) throw new Error(`${better} is not better: ${comparison.verdict}`);
  const row = rows.get(folder)!;
  const expected = ` is ${row.better}, compared to ${row.worse} with ${worse}.`;
  return { verdict: comparison.verdict, expected };
}
