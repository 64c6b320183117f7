import type { Duration, MetricsProvider, Outcome, RateLimiter, RateLimitingQueue } from "@workqueue/core";
import type { Cache } from "../cache/cache.ts";
import type { Client } from "../client/client.ts";
import type { DeepReadonly, KubeObject } from "../kube_object.ts";
import type { LeaseOptions } from "../lease/leader_lease.ts";

/** Options of {@linkcode Manager}. */
export interface ManagerOptions {
  /**
   * Name of the program, such as `"shop-controller"`. The server notes it as the manager of the fields that the program
   * sets, so two programs need two names.
   */
  name: string;
  /** Client of the API server. @default {Client.fromEnvironment()} */
  client?: Client | undefined;
  /** Lease that lets only one replica work. By default, every replica works. */
  lease?: LeaseOptions | undefined;
  /** Port of `/healthz` and `/readyz`. By default, there is no server. */
  port?: number | undefined;
  /** Metrics of controllers and their queues, such as those of `controllerMetrics` of `@workqueue/prometheus`. */
  metrics?: ControllerMetrics | undefined;
  /**
   * Called for each error: of an attempt, which is retried, of a list or a watch, which begins again, of the lease, and
   * of functions of the program. `where` says where the error happened. By default, errors are written to
   * `console.error`.
   */
  onError?: ((error: unknown, where: string) => void) | undefined;
  /** Time after which `run` rejects if a permission for a first list is missing. @default {"2m"} */
  syncTimeout?: Duration | undefined;
  /** Time for which running attempts may go on once `run` is to end. Then their signals abort. @default {"20s"} */
  shutdownGrace?: Duration | undefined;
}

/** Metrics of a manager: those of its queues, and those of its controllers and caches. */
export interface ControllerMetrics extends MetricsProvider {
  /** Notes the end of an attempt, after some seconds. */
  reconciled?(controller: string, result: ReconcileResult, seconds: number): void;
  /** Notes that a list or a watch of a kind ended and begins again. */
  watchRestarted?(kind: string): void;
  /** Gets the function that returns the number of objects in the caches of a kind. */
  cacheSize?(kind: string, read: () => number): void;
  /** Notes whether this process holds a lease. */
  leading?(lease: string, isLeading: boolean): void;
}

/** Result of an attempt, as in controller-runtime. */
export type ReconcileResult = "success" | "error" | "requeue" | "requeue_after";

/** Context of an attempt. */
export interface ReconcileContext {
  /** Key of the object: `namespace/name`, or `name`. */
  readonly key: string;
  /** Number of the attempt since the last success, beginning with 1. */
  readonly attempt: number;
  /** Aborts when the attempt should end: after its timeout, at the end of a shutdown, or when the lease was lost. */
  readonly signal: AbortSignal;
}

/** Cache of any kind. */
export interface AnyCache {
  /** API version of the objects. */
  readonly apiVersion: string;
  /** Kind of the objects. */
  readonly kind: string;
  /** Returns the object with a key. */
  get(key: string): DeepReadonly<KubeObject> | undefined;
}

/** Other objects whose changes are events for objects of a controller. */
export interface Watched<O extends KubeObject> {
  /** Cache of the other objects. */
  readonly cache: Cache<O>;
  /** Returns the keys of the objects that need an attempt, because this one changed. */
  keys(object: DeepReadonly<O>): readonly string[];
}

/**
 * Options of {@linkcode Manager.control}.
 *
 * @typeParam T The type of the controller's objects.
 * @typeParam W The types of the objects of `watches`.
 */
export interface ControllerOptions<T extends KubeObject, W extends readonly KubeObject[] = readonly KubeObject[]> {
  /**
   * Brings one object to its desired state. If it throws, the attempt is repeated, with growing delays and without a
   * limit on the number. Not called for objects that are being deleted.
   */
  reconcile(object: DeepReadonly<T>, context: ReconcileContext): Promise<Outcome | void>;
  /** Finalizer of the controller, such as `"example.dev/dns"`: the object stays until `cleanup` has succeeded. */
  finalizer?: string | undefined;
  /** Deletes everything that belongs to an object that is being deleted. May be called more than once. */
  cleanup?(object: DeepReadonly<T>, context: ReconcileContext): Promise<void>;
  /** Caches of objects that the objects own, as by {@linkcode Cache.apply}. Their changes are events for the owner. */
  owns?: readonly AnyCache[] | undefined;
  /** Caches of other objects, whose changes are events for objects of the controller. */
  watches?: { readonly [I in keyof W]: Watched<W[I]> } | undefined;
  /**
   * Reports whether an update of an object of the controller is an event. By default, every update is an event. Not
   * called when an object was created, is being deleted or is gone: these changes are always events.
   */
  changed?(object: DeepReadonly<T>, before: DeepReadonly<T>): boolean;
  /** Name in metrics and errors. @default {the kind, in lower case} */
  name?: string | undefined;
  /** Maximum number of attempts at a time. Two attempts at a time never have the same object. @default {5} */
  concurrency?: number | undefined;
  /** Longest time of an attempt. Then its signal aborts, and the attempt has failed. @default {"2m"} */
  timeout?: Duration | undefined;
  /** Delays after failures. @default {createDefaultControllerLimiter()} */
  limiter?: RateLimiter<string> | undefined;
}

/** Controller that {@linkcode Manager.control} made. */
export interface Controller {
  /** Name in metrics and errors. */
  readonly name: string;
  /** Queue of the keys that need an attempt. Add a key to cause an attempt. */
  readonly queue: RateLimitingQueue<string>;
}
