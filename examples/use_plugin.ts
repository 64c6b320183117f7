/**
 * Creates a plugin's limiter from a config file and prints the limiter's delays.
 *
 *     npx -y deno run examples/use_plugin.ts
 *     bun examples/use_plugin.ts
 */

import { limiters, loadConfig } from "@workqueue/core";
import document from "./fibonacci.json" with { type: "json" };
import { fibonacciPlugin } from "./fibonacci_plugin.ts";

const registry = limiters.extend().use(fibonacciPlugin);
const config = loadConfig(document, { limiters: registry });

const limiter = config.limiter<string>("polite");
for (let failure = 1; failure <= 5; failure++) {
  console.log(`failure ${failure}: wait ${limiter.when("https://example.com/hook")} ms`);
}
