/** Registration of tests that need a real API server. They need Go, `openssl`, and the packages from npm for Node. */

import { HAS_OPENSSL } from "../../redis/certificates.ts";
import { allRuntimes } from "../../runtimes.ts";
import { Cluster, type ClusterOptions } from "./cluster.ts";
import { HAS_GO } from "./programs.ts";

/** Names of the runtimes on which controllers are tested: those in `WORKQUEUE_RUNTIMES`, or all. */
export const RUNTIMES: readonly string[] = Deno.env.get("WORKQUEUE_RUNTIMES")?.split(",") ?? Object.keys(allRuntimes);

/** Registers a test with a cluster of its own. */
export function clusterTest(
  name: string,
  run: (cluster: Cluster, t: Deno.TestContext) => Promise<void>,
  options?: ClusterOptions,
): void {
  if (!HAS_GO || !HAS_OPENSSL) return console.log(`There is no Go or no openssl on the PATH: leaving out "${name}".`);
  Deno.test(name, async (t) => {
    await using cluster = await Cluster.start(options);
    await run(cluster, t);
  });
}

/** Registers a test with a cluster of its own for each runtime. */
export function onEachRuntime(
  name: string,
  run: (runtime: string, cluster: Cluster, t: Deno.TestContext) => Promise<void>,
  options?: ClusterOptions,
): void {
  for (const runtime of RUNTIMES) {
    clusterTest(`${runtime}: ${name}`, (cluster, t) => run(runtime, cluster, t), options);
  }
}
