import { configSchema } from "@workqueue/core/config";
import { loadSchema } from "@workqueue/simulate";
import { loadPlugins } from "../config/plugins.ts";
import type { SchemaFlags } from "./config_flags.ts";
import { print } from "./print.ts";

/**
 * Runs `workqueue schema`: prints the JSON Schema of configs, or that of load documents.
 *
 * @param flags The options.
 * @throws {UsageError} If a plugin can't be loaded or the output can't be written.
 */
export async function schemaCommand({ plugin, load }: SchemaFlags): Promise<void> {
  const schema = load ? loadSchema() : configSchema(await loadPlugins(plugin));
  await print(JSON.stringify(schema, undefined, 2) + "\n");
}
