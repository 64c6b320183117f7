import { configSchema } from "@workqueue/core/config";
import { loadSchema } from "@workqueue/simulate";
import { alerts } from "./alerts.ts";
import { allPackages, packageFolders, tsconfig } from "./all_packages.ts";
import { mainEntry, manifest } from "./built_ins.ts";
import { configPages } from "./config_reference.ts";
import { coreLock } from "./core_lock.ts";
import { contributing } from "./contributing.ts";
import { dashboard } from "./dashboard.ts";
import { docsAddress } from "./docs_address.ts";
import { plotDelays } from "./delays.ts";
import { plotFairness } from "./fairness.ts";
import { luaFiles } from "./lua.ts";
import { page } from "./page.ts";
import { plotPriorities } from "./priorities.ts";
import { readme } from "./readme.ts";
import { rules } from "./rules.ts";
import { plotSimulation } from "./simulate.ts";
import { sizes } from "./sizes.ts";
import { throttlePlots } from "./throttles.ts";
import { versionModule } from "./version.ts";

/** Functions that generate files, keyed by the path of the file. */
export const files: Readonly<Record<string, () => string | Promise<string>>> = {
  "packages/redis/scripts/lua.ts": luaFiles,
  "schema/workqueue.schema.json": () => JSON.stringify(configSchema(), undefined, 2) + "\n",
  "schema/load.schema.json": () => JSON.stringify(loadSchema(), undefined, 2) + "\n",
  ...configPages,
  "docs/rules.md": rules,
  "README.md": readme,
  "CONTRIBUTING.md": contributing,
  "docs/delays.svg": plotDelays,
  "docs/priorities.svg": plotPriorities,
  "docs/fairness.svg": plotFairness,
  "docs/simulate.svg": plotSimulation,
  ...throttlePlots(),
  "docs/operate/alerts.yml": alerts,
  "docs/operate/dashboard.json": dashboard,
  "lib/base/version.ts": versionModule,
  ...Object.fromEntries(packageFolders().map((folder) => [`${folder}/version.ts`, versionModule])),
  "packages/dashboard/docs_address.ts": docsAddress,
  "packages/dashboard/page.ts": page,
  "mod.ts": mainEntry,
  "docs/sizes.md": sizes, // after `mod.ts`, whose names it lists
  "deno.json": () => manifest("deno.json"),
  "jsr.json": () => manifest("jsr.json"),
  "deno.all.json": allPackages,
  "tests/core.lock": coreLock,
  "tsconfig.json": tsconfig,
};
