/**
 * Prints the JSON Schema of configs that use a plugin, for their `$schema` to point to.
 *
 *     deno run examples/print_schema.ts > workqueue.schema.json
 *     bun examples/print_schema.ts > workqueue.schema.json
 */

import { configSchema, limiters } from "@workqueue/core";
import { fibonacciPlugin } from "./fibonacci_plugin.ts";

const registry = limiters.extend().use(fibonacciPlugin);
console.log(JSON.stringify(configSchema({ limiters: registry }), undefined, 2));
