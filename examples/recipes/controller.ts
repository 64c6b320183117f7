/**
 * A Kubernetes controller: brings every `Website`, a custom resource, to the state in its spec, with a config map that
 * the website owns and a name in DNS outside of the cluster, and writes the status. docs/controller.md explains it.
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

/** The server keeps a deleted website until we have removed this from it. */
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

// Events only add keys. What has to be done is found out by `reconcile`.
const queue = createRateLimitingQueue<string>(createDefaultControllerLimiter());
const enqueue = ({ metadata }: Website) => queue.add(`${metadata.namespace}/${metadata.name}`);
websites.on("add", enqueue); // each website at the start, whatever its status says
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
await Promise.all([websites.start(), configMaps.start()]); // both caches are complete before the first attempt
runWorkers(queue, reconcile, {
  concurrency: 5,
  maxRetries: 15,
  onError: (error, key, attempt) => console.warn(`${key}: attempt ${attempt} failed: ${describe(error)}`),
  onGiveUp: (_error, key, attempts) => console.error(`${key}: given up after ${attempts} attempts`),
});
await terminated;
console.log("draining");
await queue.shutDownWithDrain(); // drops delayed items: the next start lists everything
await Promise.all([websites.stop(), configMaps.stop()]);
console.log("drained");

/** The predicate: leaves out the events that our own updates cause. */
function isChanged({ metadata, status }: Website): boolean {
  return metadata.deletionTimestamp !== undefined || status?.observedGeneration !== metadata.generation;
}

/** The same for config maps: leaves out those that already are as their website wants them. */
function isInOrder(configMap: V1ConfigMap): boolean {
  const owner = ownerOf(configMap);
  return owner !== undefined && configMap.data?.["host"] === websites.get(owner.name, owner.namespace)?.spec.host;
}

/** Adds the website that a config map belongs to. */
function enqueueOwner(configMap: V1ConfigMap): void {
  const owner = ownerOf(configMap);
  if (owner !== undefined) queue.add(`${owner.namespace}/${owner.name}`);
}

function ownerOf({ metadata }: V1ConfigMap): { namespace: string; name: string } | undefined {
  const owner = metadata?.ownerReferences?.find(({ kind, controller }) => kind === "Website" && controller);
  return owner && { namespace: metadata!.namespace!, name: owner.name };
}

/** Brings one website to its state. Looks at how it is now: many events may have led to this one attempt. */
async function reconcile(key: string): Promise<void> {
  const [namespace, name] = key.split("/") as [string, string];
  const cached = websites.get(name, namespace);
  if (cached === undefined) return; // it is deleted, and the finalizer has done the rest
  const { deletionTimestamp, finalizers = [], generation } = cached.metadata;
  const others = finalizers.filter((finalizer) => finalizer !== FINALIZER);
  if (deletionTimestamp !== undefined) {
    if (others.length === finalizers.length) return; // only other controllers' finalizers are left
    console.log(`${key}: ${cached.spec.host} is removed from DNS`); // here goes that call
    await update(cached, others);
    return;
  }

  // Add the finalizer before anything outside of the cluster is made.
  const website = others.length < finalizers.length ? cached : await update(cached, [...finalizers, FINALIZER]);
  await ensureConfigMap(website);
  // Here goes the call that makes the name in DNS.
  if (website.status?.observedGeneration === generation) return;

  // The server refuses this if somebody changed the website meanwhile. By the retry, the cache has the newer version.
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
 * Makes the config map of a website, or corrects it. Its owner reference lets the cluster delete it with the website.
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

/** A watch ends now and then. The restart lists everything, and calls `delete` for what vanished meanwhile. */
function restartAfterErrors<T extends KubernetesObject>(informer: Informer<T>, name: string): void {
  informer.on("error", (error) => {
    if (queue.shuttingDown) return; // on Bun, the end of the watch is an error
    console.error(`The watch of ${name} broke off, and begins again in 5 s: ${describe(error)}`);
    setTimeout(() => {
      if (!queue.shuttingDown) informer.start();
    }, 5000).unref();
  });
}

function describe(error: unknown): string {
  return error instanceof ApiException ? `the API server answered ${error.code}` : String(error);
}
