/**
 * Prints the JSON Schema for configs that use a plugin. Set the `$schema` property of such a config to the path of the
 * printed schema.
 *
 *     npx -y deno run examples/print_schema.ts > workqueue.schema.json
 *     bun examples/print_schema.ts > workqueue.schema.json
 */

import { limiters } from "@workqueue/core";
import { configSchema } from "@workqueue/core/config";
import { fibonacciPlugin } from "./fibonacci_plugin.ts";

const registry = limiters.extend().use(fibonacciPlugin);
console.log(JSON.stringify(configSchema({ limiters: registry }), undefined, 2));
