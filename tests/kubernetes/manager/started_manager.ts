/** Managers for tests: config maps that own secrets, in a cluster in this process. */

import { type CacheOptions, type ControllerOptions, Manager, type ManagerOptions } from "@workqueue/kubernetes";
import type { Cache } from "../../../packages/kubernetes/cache/cache.ts";
import type { FakeCluster } from "@workqueue/kubernetes/testing";
import type { ConfigMap } from "../cache/started_cache.ts";

/** Manager that runs until it is stopped. */
export interface StartedManager extends AsyncDisposable {
  readonly manager: Manager;
  readonly configMaps: Cache<ConfigMap>;
  readonly secrets: Cache<ConfigMap>;
  /** Errors, with the places where they happened. */
  readonly errors: string[];
  /** Settles when the run has ended. */
  readonly ended: Promise<void>;
  stop(): Promise<void>;
}

type Options = Partial<ControllerOptions<ConfigMap>>;

export function startManager(
  cluster: FakeCluster,
  controller: Options | ((caches: Pick<StartedManager, "configMaps" | "secrets">) => Options),
  options: Partial<ManagerOptions> = {},
  cacheOptions: CacheOptions<ConfigMap> = {},
): StartedManager {
  const errors: string[] = [];
  const onError = (error: unknown, where: string) => void errors.push(`${where}: ${(error as Error).message}`);
  const manager = new Manager({ name: "tests", client: cluster.client, onError, ...options });
  const configMaps = manager.cache<ConfigMap>("v1", "ConfigMap", { namespaces: ["default"], ...cacheOptions });
  const secrets = manager.cache<ConfigMap>("v1", "Secret", { namespaces: ["default"] });
  const more = typeof controller === "function" ? controller({ configMaps, secrets }) : controller;
  manager.control(configMaps, { owns: [secrets], async reconcile() {}, ...more });
  const stopping = new AbortController();
  const ended = manager.run(stopping.signal);
  const stop = () => {
    stopping.abort();
    return ended;
  };
  return {
    manager,
    configMaps,
    secrets,
    errors,
    ended,
    stop,
    async [Symbol.asyncDispose]() {
      await stop().catch(() => {});
    },
  };
}
