import { configSchema } from "@workqueue/core/config";
import { loadPlugins } from "../config/plugins.ts";
import type { SchemaFlags } from "./config_flags.ts";
import { print } from "./print.ts";

/**
 * Runs `workqueue schema`: prints the JSON Schema of configs.
 *
 * @param flags The options.
 * @throws {UsageError} If a plugin can't be loaded or the output can't be written.
 */
export async function schemaCommand({ plugin }: SchemaFlags): Promise<void> {
  await print(JSON.stringify(configSchema(await loadPlugins(plugin)), undefined, 2) + "\n");
}
