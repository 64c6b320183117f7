/**
 * Loads the same config from JSON, YAML and TOML, and prints it.
 *
 *     bun examples/load_config_bun.ts
 *
 * On other runtimes, `@workqueue/config-file` reads YAML and TOML: see `load_config.ts`.
 */

import { printConfig } from "./print_config.ts";
import json from "./workqueue.json";
import toml from "./workqueue.toml";
import yaml from "./workqueue.yaml";

printConfig("JSON", json);
printConfig("YAML", yaml);
printConfig("TOML", toml);
