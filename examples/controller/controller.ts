/**
 * A Kubernetes controller for a custom resource, `Website`. For each website, the controller maintains a config map and
 * an external DNS name according to the website's spec, and writes the website's status. docs/controller.md explains
 * the controller.
 *
 * ```sh
 * npx -y deno run -A --config deno.all.json examples/controller/controller.ts # on the cluster of your kubeconfig
 * bun examples/controller/controller.ts
 * npx -y deno run -A --config deno.all.json examples/controller/controller_demo.ts # without a cluster
 * ```
 *
 * @module
 */

import {
  ApiException,
  type ConfigurationOptions,
  CoreV1Api,
  CustomObjectsApi,
  type Informer,
  KubeConfig,
  type KubernetesObject,
  makeInformer,
  Observable,
  type ObservableMiddleware,
  type V1ConfigMap,
} from "@kubernetes/client-node";
import {
  createDefaultControllerLimiter,
  createRateLimitingQueue,
  type HandlerContext,
  runWorkers,
} from "@workqueue/core";
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

/** Bound on every request, because a connection may be half-open. Kubernetes kills a pod 30 s after SIGTERM. */
const TIMEOUT = 10_000;

/** Time until a failed list or watch is started again. */
const RESTART_DELAY = 5000;

const config = new KubeConfig();
config.loadFromDefault();
const api = config.makeApiClient(CustomObjectsApi);
const core = config.makeApiClient(CoreV1Api);
const resource = { group: "example.dev", version: "v1", plural: "websites" };
const websites = makeInformer<Website>(
  config,
  "/apis/example.dev/v1/websites",
  () => api.listClusterCustomObject(resource, until(AbortSignal.timeout(TIMEOUT))),
);
const configMaps = makeInformer<V1ConfigMap>(
  config,
  "/api/v1/configmaps",
  () => core.listConfigMapForAllNamespaces({}, until(AbortSignal.timeout(TIMEOUT))),
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

// Without `maxRetries`, failing keys are retried for ever, with at most 1000 s between attempts.
const pool = runWorkers(queue, reconcile, {
  concurrency: 5,
  timeout: TIMEOUT,
  onError: (error, key, attempt) => console.warn(`${key}: attempt ${attempt} failed: ${describe(error)}`),
});
pool.pause(); // until both caches hold all objects
const stopping = new AbortController();
process.once("SIGTERM", () => stopping.abort());
Promise.all([sync(websites, "websites"), sync(configMaps, "config maps")]).then(() => pool.resume());

await once(stopping.signal, "abort");
console.log("stopping");
queue.shutDown(); // drops delayed items, because the next start lists all websites again
await pool.stop(); // running attempts end; ready items are left to the next start, too
await Promise.all([websites.stop(), configMaps.stop()]);
console.log("stopped");

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
async function reconcile(key: string, { signal }: HandlerContext): Promise<void> {
  const [namespace, name] = key.split("/") as [string, string];
  const cached = websites.get(name, namespace);
  if (cached === undefined) return; // deleted, which is possible only after the cleanup has removed the finalizer
  const { deletionTimestamp, finalizers = [], generation } = cached.metadata;
  const others = finalizers.filter((finalizer) => finalizer !== FINALIZER);
  if (deletionTimestamp !== undefined) {
    if (others.length === finalizers.length) return; // the remaining finalizers belong to other controllers
    console.log(`${key}: ${cached.spec.host} is removed from DNS`); // the call that removes the DNS name goes here
    await update(cached, others, signal);
    return;
  }

  // Adds the finalizer before anything outside the cluster is created.
  const website = others.length < finalizers.length ? cached : await update(cached, [...finalizers, FINALIZER], signal);
  await ensureConfigMap(website, signal);
  // The call that creates the DNS name goes here.
  if (website.status?.observedGeneration === generation) return;

  // The server rejects this update if the website has changed in the meantime. By the time of the retry, the cache
  // contains the newer version.
  const body = { ...website, status: { observedGeneration: generation } };
  await api.replaceNamespacedCustomObjectStatus({ ...resource, namespace, name, body }, until(signal));
  console.log(`${key}: ${website.spec.host} is served as of generation ${generation}`);
}

async function update(website: Website, finalizers: string[], signal: AbortSignal): Promise<Website> {
  const { namespace, name } = website.metadata;
  const body = { ...website, metadata: { ...website.metadata, finalizers } };
  return await api.replaceNamespacedCustomObject({ ...resource, namespace, name, body }, until(signal));
}

/**
 * Creates or corrects a website's config map. Because of the owner reference, the cluster deletes the config map along
 * with the website.
 */
async function ensureConfigMap({ metadata, spec }: Website, signal: AbortSignal): Promise<void> {
  const { namespace, name, uid } = metadata;
  const found = configMaps.get(name, namespace);
  if (found?.data?.["host"] === spec.host) return;
  const owner = { apiVersion: "example.dev/v1", kind: "Website", name, uid, controller: true };
  const body = { metadata: { ...found?.metadata, name, ownerReferences: [owner] }, data: { host: spec.host } };
  if (found === undefined) await core.createNamespacedConfigMap({ namespace, body }, until(signal));
  else await core.replaceNamespacedConfigMap({ namespace, name, body }, until(signal));
}

/**
 * Starts an informer, and restarts it some seconds after each error. Resolves when the cache holds all objects: the
 * promise of `start` resolves even if the list failed.
 */
function sync<T extends KubernetesObject>(informer: Informer<T>, name: string): Promise<void> {
  let errors = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  stopping.signal.addEventListener("abort", () => clearTimeout(timer));
  return new Promise((resolve) => {
    const start = async () => {
      const before = errors;
      await informer.start();
      if (errors === before) resolve();
    };
    informer.on("error", (error) => {
      if (stopping.signal.aborted) return; // on Bun, a stopped watch ends with an error
      errors++;
      console.error(`Cannot watch ${name}: ${describe(error)}. Trying again in ${RESTART_DELAY / 1000} s`);
      timer = setTimeout(start, RESTART_DELAY);
    });
    start();
  });
}

/** Returns options with which a request ends when the signal is aborted. */
function until(signal: AbortSignal): ConfigurationOptions {
  const middleware: ObservableMiddleware = {
    pre(request) {
      request.setSignal(signal);
      return new Observable(Promise.resolve(request));
    },
    post: (response) => new Observable(Promise.resolve(response)),
  };
  return { middleware: [middleware], middlewareMergeStrategy: "append" };
}

function describe(error: unknown): string {
  return error instanceof ApiException ? `the API server answered ${error.code}` : String(error);
}
