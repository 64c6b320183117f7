/**
 * Loads the same config from JSON, YAML and TOML, and prints it.
 *
 *     npx -y deno run --allow-read --allow-env examples/load_config.ts
 *
 * Bun imports YAML and TOML without a package: see `load_config_bun.ts`.
 */

import { readConfigFile } from "@workqueue/config-file";
import { printConfig } from "./print_config.ts";

for (const format of ["JSON", "YAML", "TOML"]) {
  printConfig(format, readConfigFile(new URL(`workqueue.${format.toLowerCase()}`, import.meta.url)));
}
