import { configSchema } from "@workqueue/core";
import { manifest } from "./built_ins.ts";
import { configReference } from "./config_reference.ts";
import { dashboard } from "./dashboard.ts";
import { plotDelays } from "./delays.ts";
import { plotFairness } from "./fairness.ts";
import { page } from "./page.ts";
import { plotPriorities } from "./priorities.ts";
import core from "../../deno.json" with { type: "json" };

/** What makes each generated file. */
export const files: Readonly<Record<string, () => string | Promise<string>>> = {
  "schema/workqueue.schema.json": () => JSON.stringify(configSchema(), undefined, 2) + "\n",
  "docs/config.md": configReference,
  "docs/delays.svg": plotDelays,
  "docs/priorities.svg": plotPriorities,
  "docs/fairness.svg": plotFairness,
  "docs/operate/dashboard.json": dashboard,
  "packages/cli/version.ts": () => `/** The version of the command. */\nexport const VERSION = "${core.version}";\n`,
  "packages/dashboard/page.ts": page,
  "deno.json": () => manifest("deno.json"),
  "jsr.json": () => manifest("jsr.json"),
};
