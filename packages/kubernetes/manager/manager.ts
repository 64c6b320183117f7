import { argumentError, callSafely, inOneLine, messageOf, tryParseDuration } from "@workqueue/core/internal";
import { Cache } from "../cache/cache.ts";
import type { CacheOptions } from "../cache/contract.ts";
import { KindResource } from "../cache/resource.ts";
import { Client } from "../client/client.ts";
import { sleep } from "../client/sleep.ts";
import type { KubeObject } from "../kube_object.ts";
import { LeaderLease } from "../lease/leader_lease.ts";
import type { Controller, ControllerOptions, ManagerOptions } from "./contract.ts";
import { KindController } from "./controller.ts";
import { serveHealth } from "./health.ts";
import { Run, whenAborted } from "./run.ts";
import { requireCacheOptions, requireControllerOptions, requireManagerOptions } from "./options.ts";

/** Time between two looks for permissions that are missing, in milliseconds. */
const LOOK = 1000;
/** Time after which attempts that ignore their aborted signals are reported, in milliseconds. */
const IGNORED = 5000;

/**
 * Runs the caches and controllers of one program.
 *
 * @example A controller that copies config maps, with a cluster in this process
 * ```ts
 * import { type KubeObject, Manager } from "@workqueue/kubernetes";
 * import { fakeCluster } from "@workqueue/kubernetes/testing";
 * import { assertEquals } from "@std/assert";
 *
 * interface ConfigMap extends KubeObject {
 *   readonly data?: Readonly<Record<string, string>>;
 * }
 *
 * const cluster = fakeCluster();
 * const metadata = { name: "a", labels: { copy: "yes" } };
 * cluster.create({ apiVersion: "v1", kind: "ConfigMap", metadata, data: { x: "1" } });
 *
 * const manager = new Manager({ name: "copier", client: cluster.client });
 * const configMaps = manager.cache<ConfigMap>("v1", "ConfigMap");
 * const stop = new AbortController();
 * manager.control(configMaps, {
 *   owns: [configMaps],
 *   async reconcile(configMap) {
 *     const { namespace, name, labels } = configMap.metadata;
 *     if (labels?.copy !== "yes") return;
 *     const copy = { metadata: { namespace, name: `${name}-copy` }, data: configMap.data ?? {} };
 *     await configMaps.apply(copy, { owner: configMap });
 *     stop.abort();
 *   },
 * });
 * await manager.run(stop.signal);
 *
 * assertEquals(cluster.get<ConfigMap>("v1", "ConfigMap", "default/a-copy")?.data, { x: "1" });
 * ```
 */
export class Manager {
  readonly #options: ManagerOptions;
  readonly #client: Client;
  readonly #lease: LeaderLease | undefined;
  readonly #caches: Cache<KubeObject>[] = [];
  /** Resources of the caches, by API version and kind. */
  readonly #resources = new Map<string, KindResource<KubeObject>>();
  readonly #controllers: KindController<KubeObject>[] = [];
  #isRunning = false;

  /**
   * Creates a manager without caches.
   *
   * @throws {TypeError} If an option is missing, unknown or of the wrong type.
   * @throws {RangeError} If an option is a number out of range.
   */
  constructor(options: ManagerOptions) {
    requireManagerOptions(options);
    this.#options = options;
    this.#client = options.client ?? Client.fromEnvironment();
    this.#lease = options.lease &&
      new LeaderLease(this.#client, { onError: (error) => this.#report(error, "lease"), ...options.lease });
  }

  /**
   * Adds a cache of a kind. It is filled while the manager runs.
   *
   * @param apiVersion API version of the kind, such as `"apps/v1"`.
   * @param kind The kind, such as `"Deployment"`. A kind that the server doesn't know yet is awaited.
   * @param options Objects to cache, and how. All are optional.
   * @throws {TypeError} If an option is unknown or of the wrong type.
   * @throws {Error} If the manager is running.
   */
  cache<T extends KubeObject>(apiVersion: string, kind: string, options: CacheOptions<T> = {}): Cache<T> {
    requireCacheOptions(apiVersion, kind, options);
    this.#requireStopped("create cache");
    const { name, metrics } = this.#options;
    const onError = (error: unknown) => this.#report(error, `cache of ${kind}`);
    const resource = this.#resources.get(`${apiVersion} ${kind}`) ??
      new KindResource<KubeObject>(this.#client, apiVersion, kind, onError);
    this.#resources.set(`${apiVersion} ${kind}`, resource);
    const context = { fieldManager: name, onError, onRestart: () => metrics?.watchRestarted?.(kind) };
    const cache = new Cache<T>(context, resource as unknown as KindResource<T>, options);
    this.#caches.push(cache as unknown as Cache<KubeObject>);
    metrics?.cacheSize?.(kind, () => cache.size);
    return cache;
  }

  /**
   * Adds a controller for the objects of a cache.
   *
   * @throws {TypeError} If an option is missing, unknown or of the wrong type, or a cache belongs to another manager.
   * @throws {RangeError} If an option is a number out of range.
   * @throws {Error} If the manager is running, or another controller has the same name.
   */
  control<T extends KubeObject, const W extends readonly KubeObject[] = readonly []>(
    cache: Cache<T>,
    options: ControllerOptions<T, W>,
  ): Controller {
    requireControllerOptions(cache, options as never);
    this.#requireStopped("create controller");
    for (const used of [cache, ...options.owns ?? [], ...(options.watches ?? []).map(({ cache }) => cache)]) {
      if (this.#caches.includes(used as unknown as Cache<KubeObject>)) continue;
      throw argumentError("create controller", `the cache of ${used.kind} belongs to another manager`, TypeError);
    }
    const name = options.name ?? cache.kind.toLowerCase();
    if (this.#controllers.some((other) => other.name === name)) {
      throw argumentError("create controller", `there is a controller "${name}" already: set 'name'`, Error);
    }
    const { metrics } = this.#options;
    const context = { client: this.#client, name, metrics, onError: this.#report };
    const controller = new KindController<T>(context, cache, options as unknown as ControllerOptions<T>);
    this.#controllers.push(controller as unknown as KindController<KubeObject>);
    return controller;
  }

  /**
   * Fills the caches, waits for the lease, and runs the controllers until the signal, SIGTERM or SIGINT. Then no
   * attempt begins, and the keys in the queues are dropped: the next start gives every object an attempt. The lease is
   * given back when all attempts have ended.
   *
   * @throws {Error} If a permission for a first list or for the lease is missing for `syncTimeout`, or if the port is
   * taken.
   * @throws {Error} With the code `WQ_LEASE_LOST` if the lease was lost. Let the process exit then.
   */
  async run(signal?: AbortSignal): Promise<void> {
    this.#requireStopped("run manager");
    this.#isRunning = true;
    const { port, client } = this.#options;
    const run = new Run(signal);
    let stopServer: (() => void) | undefined;
    try {
      if (port !== undefined) stopServer = await serveHealth(this.#caches, port);
      const caches = this.#caches.map((cache) => cache.run(run.watching.signal).catch((error) => run.fail(error)));
      void this.#awaitPermissions(run);
      await this.#work(run);
      run.watching.abort();
      await Promise.all(caches);
    } finally {
      run.end();
      stopServer?.();
      if (client === undefined) this.#client.close();
    }
    if (run.error !== undefined) throw run.error;
  }

  /** Fails the run if a permission for a first list, or for the lease, is missing for too long. */
  async #awaitPermissions({ ending: { signal }, fail }: Run): Promise<void> {
    const syncTimeout = tryParseDuration(this.#options.syncTimeout ?? "2m")!;
    let deniedFor = 0;
    while (!signal.aborted) {
      const denials = [...this.#caches, this.#lease].map((part) => part?.denial);
      const denial = denials.find((error) => error !== undefined);
      deniedFor = denial === undefined ? 0 : deniedFor + LOOK;
      if (denial !== undefined && deniedFor > syncTimeout) return fail(denial);
      await sleep(LOOK, signal).catch(() => {});
    }
  }

  /** Waits for the caches and the lease, and makes attempts until the run is to end, and all of them have ended. */
  async #work(run: Run): Promise<void> {
    const { shutdownGrace = "20s" } = this.#options;
    const ending = run.ending.signal;
    const lease = this.#lease;
    const isLost = new AbortController();
    await Promise.race([Promise.all(this.#caches.map(({ synced }) => synced)), whenAborted(ending)]);
    if (!ending.aborted && lease !== undefined) {
      await lease.acquire(ending, (error) => {
        this.#setLeading(false);
        run.fail(error);
        run.attempts.abort(error);
        isLost.abort();
      }).then(() => this.#setLeading(true), run.fail);
    }
    if (!ending.aborted) {
      for (const controller of this.#controllers) controller.start(run.attempts.signal, lease && (() => lease.check()));
    }
    await whenAborted(ending);
    const stopped = Promise.all(this.#controllers.map((controller) => controller.stop()));
    const grace = sleep(tryParseDuration(shutdownGrace)!, run.watching.signal).catch(() => {});
    await Promise.race([stopped, grace, whenAborted(isLost.signal)]);
    run.attempts.abort(new Error("The manager was stopped"));
    const ignored = setTimeout(() => this.#reportRunning(), IGNORED);
    await Promise.race([stopped, whenAborted(isLost.signal)]); // another process may already hold a lost lease
    clearTimeout(ignored);
    await lease?.release();
    this.#setLeading(false);
  }

  #setLeading(isLeading: boolean): void {
    const { lease, metrics } = this.#options;
    if (lease === undefined) return;
    callSafely(() => metrics?.leading?.(lease.name, isLeading), (error) => this.#report(error, "metrics"));
  }

  /** Reports attempts that keep the manager from ending, because they ignore their signals. */
  #reportRunning(): void {
    for (const { name, running } of this.#controllers) {
      if (running.length === 0) continue;
      const keys = `${running.slice(0, 3).join(", ")}${running.length > 3 ? ", …" : ""}`;
      this.#report(new Error(`The manager can't stop: attempts ignore their signals: ${keys}`), name);
    }
  }

  #requireStopped(action: string): void {
    if (this.#isRunning) throw argumentError(action, "the manager runs already, or has run", Error);
  }

  readonly #report = (error: unknown, where: string): void => {
    const { onError = writeError } = this.#options;
    callSafely((thrown) => onError(thrown, where), () => {}, error);
  };
}

function writeError(error: unknown, where: string): void {
  console.error(inOneLine(`${where}: ${messageOf(error)}`));
}
