/** Caches of config maps for tests, and what they tell. */

import { type CacheOptions, keyOf, type KubeObject } from "@workqueue/kubernetes";
import type { FakeCluster } from "@workqueue/kubernetes/testing";
import { Cache } from "../../../packages/kubernetes/cache/cache.ts";
import { KindResource } from "../../../packages/kubernetes/cache/resource.ts";
import type { Change } from "../../../packages/kubernetes/cache/change.ts";

export interface ConfigMap extends KubeObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly data?: Readonly<Record<string, string>>;
}

export function configMap(name: string, data = {}, labels = {}): ConfigMap {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { namespace: "default", name, labels }, data };
}

/** Cache that runs until it is disposed. */
export interface StartedCache extends AsyncDisposable {
  readonly cache: Cache<ConfigMap>;
  /** Changes that it told, such as `add default/a`. */
  readonly told: string[];
  readonly changes: Change<ConfigMap>[];
  readonly errors: string[];
}

export function startCache(
  cluster: FakeCluster,
  options: CacheOptions<ConfigMap> = {},
  kind = "ConfigMap",
): StartedCache {
  const [told, changes, errors] = [[] as string[], [] as Change<ConfigMap>[], [] as string[]];
  const onError = (error: unknown) => void errors.push((error as Error).message);
  const apiVersion = ["ConfigMap", "Namespace"].includes(kind) ? "v1" : "example.dev/v1";
  const resource = new KindResource<ConfigMap>(cluster.client, apiVersion, kind, onError);
  const cache = new Cache<ConfigMap>({ fieldManager: "tests", onError, onRestart() {} }, resource, options);
  cache.subscribe((change) => {
    told.push(`${change.type} ${keyOf(change.object)}`);
    changes.push(change);
  });
  const stop = new AbortController();
  const ended = cache.run(stop.signal);
  return {
    cache,
    told,
    changes,
    errors,
    async [Symbol.asyncDispose]() {
      stop.abort(new Error("the test is over"));
      await ended;
      cluster.client.close(); // or it asks a stopped cluster for ever
    },
  };
}
