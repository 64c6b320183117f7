/**
 * A Kubernetes controller for a custom resource, `Website`. For each website, the controller maintains a config map and
 * an external DNS name according to the website's spec, and writes the website's status. docs/controller.md explains
 * the controller.
 *
 * ```sh
 * npx -y deno run -A --config deno.all.json examples/recipes/controller.ts         # on the cluster of your kubeconfig
 * bun examples/recipes/controller.ts
 * npx -y deno run -A --config deno.all.json examples/recipes/controller_demo.ts    # without a cluster
 * ```
 *
 * @module
 */

import {
  ApiException,
  CoreV1Api,
  CustomObjectsApi,
  type Informer,
  KubeConfig,
  type KubernetesObject,
  makeInformer,
  type V1ConfigMap,
} from "@kubernetes/client-node";
import { createDefaultControllerLimiter, createRateLimitingQueue, runWorkers } from "@workqueue/core";
import { once } from "node:events";
import process from "node:process";

interface Website {
  metadata: {
    namespace: string;
    name: string;
    uid: string;
    generation: number;
    deletionTimestamp?: Date;
    finalizers?: string[];
  };
  spec: { host: string };
  status?: { observedGeneration: number };
}

/** The server keeps a deleted website until the controller has removed this finalizer. */
const FINALIZER = "example.dev/dns";

const config = new KubeConfig();
config.loadFromDefault();
const api = config.makeApiClient(CustomObjectsApi);
const core = config.makeApiClient(CoreV1Api);
const resource = { group: "example.dev", version: "v1", plural: "websites" };
const websites = makeInformer<Website>(
  config,
  "/apis/example.dev/v1/websites",
  () => api.listClusterCustomObject(resource),
);
const configMaps = makeInformer<V1ConfigMap>(
  config,
  "/api/v1/configmaps",
  () => core.listConfigMapForAllNamespaces(),
);

// Event handlers only add keys. `reconcile` determines the required actions.
const queue = createRateLimitingQueue<string>(createDefaultControllerLimiter());
const enqueue = ({ metadata }: Website) => queue.add(`${metadata.namespace}/${metadata.name}`);
websites.on("add", enqueue); // at startup, called for every website, regardless of its status
websites.on("update", (website) => {
  if (isChanged(website)) enqueue(website);
});
websites.on("delete", enqueue);
configMaps.on("change", (configMap) => { // added, updated
  if (!isInOrder(configMap)) enqueueOwner(configMap);
});
configMaps.on("delete", enqueueOwner);
restartAfterErrors(websites, "websites");
restartAfterErrors(configMaps, "config maps");

const terminated = once(process, "SIGTERM");
await Promise.all([websites.start(), configMaps.start()]); // fills both caches before the first attempt
runWorkers(queue, reconcile, {
  concurrency: 5,
  maxRetries: 15,
  onError: (error, key, attempt) => console.warn(`${key}: attempt ${attempt} failed: ${describe(error)}`),
  onGiveUp: (_error, key, attempts) => console.error(`${key}: given up after ${attempts} attempts`),
});
await terminated;
console.log("draining");
await queue.shutDownWithDrain(); // drops delayed items, because the next start lists all websites again
await Promise.all([websites.stop(), configMaps.stop()]);
console.log("drained");

/** Predicate that filters out events caused by the controller's own updates. */
function isChanged({ metadata, status }: Website): boolean {
  return metadata.deletionTimestamp !== undefined || status?.observedGeneration !== metadata.generation;
}

/** Predicate that filters out config maps that already match their website. */
function isInOrder(configMap: V1ConfigMap): boolean {
  const owner = ownerOf(configMap);
  return owner !== undefined && configMap.data?.["host"] === websites.get(owner.name, owner.namespace)?.spec.host;
}

/** Adds the owner of a config map to the queue. */
function enqueueOwner(configMap: V1ConfigMap): void {
  const owner = ownerOf(configMap);
  if (owner !== undefined) queue.add(`${owner.namespace}/${owner.name}`);
}

function ownerOf({ metadata }: V1ConfigMap): { namespace: string; name: string } | undefined {
  const owner = metadata?.ownerReferences?.find(({ kind, controller }) => kind === "Website" && controller);
  return owner && { namespace: metadata!.namespace!, name: owner.name };
}

/**
 * Brings one website to its desired state. Reads the current state instead of events, because many events might have
 * led to this one attempt.
 */
async function reconcile(key: string): Promise<void> {
  const [namespace, name] = key.split("/") as [string, string];
  const cached = websites.get(name, namespace);
  if (cached === undefined) return; // deleted, which is possible only after the cleanup has removed the finalizer
  const { deletionTimestamp, finalizers = [], generation } = cached.metadata;
  const others = finalizers.filter((finalizer) => finalizer !== FINALIZER);
  if (deletionTimestamp !== undefined) {
    if (others.length === finalizers.length) return; // the remaining finalizers belong to other controllers
    console.log(`${key}: ${cached.spec.host} is removed from DNS`); // the call that removes the DNS name goes here
    await update(cached, others);
    return;
  }

  // Adds the finalizer before anything outside the cluster is created.
  const website = others.length < finalizers.length ? cached : await update(cached, [...finalizers, FINALIZER]);
  await ensureConfigMap(website);
  // The call that creates the DNS name goes here.
  if (website.status?.observedGeneration === generation) return;

  // The server rejects this update if the website has changed in the meantime. By the time of the retry, the cache
  // contains the newer version.
  const body = { ...website, status: { observedGeneration: generation } };
  await api.replaceNamespacedCustomObjectStatus({ ...resource, namespace, name, body });
  console.log(`${key}: ${website.spec.host} is served as of generation ${generation}`);
}

async function update(website: Website, finalizers: string[]): Promise<Website> {
  const { namespace, name } = website.metadata;
  const body = { ...website, metadata: { ...website.metadata, finalizers } };
  return await api.replaceNamespacedCustomObject({ ...resource, namespace, name, body });
}

/**
 * Creates or corrects a website's config map. Because of the owner reference, the cluster deletes the config map along
 * with the website.
 */
async function ensureConfigMap({ metadata, spec }: Website): Promise<void> {
  const { namespace, name, uid } = metadata;
  const found = configMaps.get(name, namespace);
  if (found?.data?.["host"] === spec.host) return;
  const owner = { apiVersion: "example.dev/v1", kind: "Website", name, uid, controller: true };
  const body = { metadata: { ...found?.metadata, name, ownerReferences: [owner] }, data: { host: spec.host } };
  if (found === undefined) await core.createNamespacedConfigMap({ namespace, body });
  else await core.replaceNamespacedConfigMap({ namespace, name, body });
}

/**
 * Restarts a watch 5 s after it ends. The restart lists all objects and calls the `delete` handlers for objects that
 * have disappeared in the meantime.
 */
function restartAfterErrors<T extends KubernetesObject>(informer: Informer<T>, name: string): void {
  informer.on("error", (error) => {
    if (queue.shuttingDown) return; // on Bun, a stopped watch ends with an error
    console.error(`The watch of ${name} broke off, and begins again in 5 s: ${describe(error)}`);
    setTimeout(() => {
      if (!queue.shuttingDown) informer.start();
    }, 5000).unref();
  });
}

function describe(error: unknown): string {
  return error instanceof ApiException ? `the API server answered ${error.code}` : String(error);
}
