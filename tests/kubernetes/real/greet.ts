/**
 * Controller of the tests: copies each config map with the label `greet=yes` to a secret, and notes in an annotation
 * that it has done so. It says all that it does.
 */

import { type Cache, keyOf, type KubeObject, type Manager } from "@workqueue/kubernetes";
import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";

const STATUS = "example.dev/greet-status";

/** Object with texts, such as a config map. */
export interface WithData extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
}

/** Receives what the controller does. */
export type Say = (event: string, more: Record<string, unknown>) => void;

/** Options of {@linkcode greet}. */
export interface GreetOptions {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly namespaces?: string[];
  /** Delay after which an object is reconciled again. */
  readonly requeueAfter: number | string;
  /** Waits as long as an attempt takes before it writes. */
  readonly work?: () => Promise<void>;
}

/** Caches of the controller. */
export interface Greeter {
  readonly configMaps: Cache<WithData>;
  readonly secrets: Cache<WithData>;
  /** Returns the versions that the caches hold, by `KIND/KEY`. */
  cached(): Record<string, string>;
}

/** Adds the controller to a manager. */
export function greet(manager: Manager, say: Say, options: GreetOptions): Greeter {
  const { apiVersion = "v1", kind = "ConfigMap", namespaces, requeueAfter, work } = options;
  const selected = { labelSelector: "greet=yes", ...namespaces && { namespaces } };
  const configMaps = manager.cache<WithData>(apiVersion, kind, selected);
  const secrets = manager.cache<WithData>("v1", "Secret", selected);
  const sayOf = (event: string, object: KubeObject, type = "configmaps") => {
    say(event, { type, key: keyOf(object), uid: object.metadata.uid, version: object.metadata.resourceVersion });
  };
  manager.control(configMaps, {
    owns: [secrets],
    finalizer: "example.dev/greet",
    concurrency: 5,
    async cleanup(configMap) {
      sayOf("cleanup", configMap);
      await secrets.delete(keyOf(configMap));
      sayOf("cleaned", configMap);
    },
    async reconcile(configMap) {
      sayOf("begin", configMap);
      try {
        const { namespace, name, annotations } = configMap.metadata;
        const entries = Object.entries(configMap.data ?? {});
        const data = Object.fromEntries(entries.map(([key, value]) => [key, Buffer.from(value).toString("base64")]));
        await work?.();
        const secret = { metadata: { namespace, name, labels: { greet: "yes" } }, data } as WithData;
        sayOf("wrote", await secrets.apply(secret, { owner: configMap }), "secrets");
        const hash = createHash("sha256").update(JSON.stringify(configMap.data ?? {})).digest("hex");
        const status = `copied ${hash.slice(0, 16)}`;
        if (annotations?.[STATUS] !== status) {
          sayOf("wrote", await configMaps.patch(configMap, { metadata: { annotations: { [STATUS]: status } } }));
        }
      } finally {
        sayOf("end", configMap);
      }
      return { requeueAfter };
    },
  });
  return {
    configMaps,
    secrets,
    cached() {
      const objects: Record<string, string> = {};
      for (const [type, cache] of [["configmaps", configMaps], ["secrets", secrets]] as const) {
        for (const object of cache.list()) objects[`${type}/${keyOf(object)}`] = object.metadata.resourceVersion!;
      }
      return objects;
    },
  };
}
