/**
 * A Kubernetes controller: brings every `Website`, a custom resource, to the state that its spec asks for and
 * says so in its status. An informer lists and watches the websites; the queue folds its events by name,
 * retries what fails and sees to it that no website is worked on twice at once. SIGTERM drains.
 *
 * ```sh
 * deno run -A examples/recipes/controller.ts         # on the cluster of your kubeconfig
 * bun examples/recipes/controller.ts
 * deno run -A examples/recipes/controller_demo.ts    # without a cluster
 * ```
 *
 * @module
 */

import { ApiException, CustomObjectsApi, KubeConfig, makeInformer } from "@kubernetes/client-node";
import { createDefaultControllerLimiter, createRateLimitingQueue, runWorkers } from "@workqueue/core";
import { once } from "node:events";
import process from "node:process";

interface Website {
  metadata: { namespace: string; name: string; generation: number };
  spec: { host: string };
  status?: { observedGeneration: number };
}

const config = new KubeConfig();
config.loadFromDefault();
const api = config.makeApiClient(CustomObjectsApi);
const resource = { group: "example.dev", version: "v1", plural: "websites" };
const informer = makeInformer<Website>(
  config,
  "/apis/example.dev/v1/websites",
  () => api.listClusterCustomObject(resource),
);

const queue = createRateLimitingQueue<string>(createDefaultControllerLimiter());
informer.on("change", ({ metadata }) => queue.add(`${metadata.namespace}/${metadata.name}`));
let restart: ReturnType<typeof setTimeout> | undefined;
informer.on("error", (error) => {
  if (queue.shuttingDown) return; // on Bun, the end of the watch is an error
  console.error(`The watch broke off, and begins again in 5 s: ${describe(error)}`);
  restart = setTimeout(() => informer.start(), 5000);
});

runWorkers(queue, reconcile, {
  concurrency: 5,
  maxRetries: 15,
  onError: (error, key, attempt) => console.warn(`${key}: attempt ${attempt} failed: ${describe(error)}`),
  onGiveUp: (_error, key, attempts) => console.error(`${key}: given up after ${attempts} attempts`),
});

const terminated = once(process, "SIGTERM"); // listens from now on: the first handlers run before start() returns
await informer.start();
await terminated;
console.log("draining");
await queue.shutDownWithDrain(); // what waits for a retry is dropped: the next start lists everything
clearTimeout(restart);
await informer.stop();
console.log("drained");

/** Looks at how the website is now, not at the event: many events may have been folded into this one call. */
async function reconcile(key: string): Promise<void> {
  const [namespace, name] = key.split("/") as [string, string];
  const website = informer.get(name, namespace);
  if (website === undefined) return console.log(`${key}: is gone`);
  const { generation } = website.metadata;
  if (website.status?.observedGeneration === generation) return; // the event came from our own update

  // Here goes the work: bring the world to the state that `website.spec` asks for.

  // The API server refuses this if somebody changed the website meanwhile. By the next attempt we know how.
  const body = { ...website, status: { observedGeneration: generation } };
  await api.replaceNamespacedCustomObjectStatus({ ...resource, namespace, name, body });
  console.log(`${key}: ${website.spec.host} is served as of generation ${generation}`);
}

function describe(error: unknown): string {
  return error instanceof ApiException ? `the API server answered ${error.code}` : String(error);
}
