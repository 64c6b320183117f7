/**
 * Kubernetes controllers: a client, caches that list and watch, controllers and a leader lease.
 *
 * @module
 */

import "./core_version.ts"; // imported first, to report a wrong core version before it causes another error

export { Cache } from "./cache/cache.ts";
export type { ApplyOptions, CacheOptions, DeleteOptions, PatchOptions } from "./cache/contract.ts";
export {
  Client,
  type ClientOptions,
  type ListOptions,
  type Query,
  type RequestOptions,
  type WatchOptions,
} from "./client/client.ts";
export { ApiError, type ApiStatus, NoAnswerError } from "./client/errors.ts";
export { HttpTransport, type HttpTransportOptions } from "./client/http_transport.ts";
export type { ListMeta } from "./client/list_splitter.ts";
export type { TlsOptions } from "./client/pool.ts";
export { type ApiRequest, type ApiResponse, StaleConnectionError, type Transport } from "./client/transport.ts";
export {
  type DeepReadonly,
  keyOf,
  type KubeObject,
  type MergePatch,
  type ObjectMeta,
  type OwnerReference,
  type PartOf,
  type Wanted,
} from "./kube_object.ts";
export { LeaderLease, type LeaseOptions } from "./lease/leader_lease.ts";
export type {
  AnyCache,
  Controller,
  ControllerMetrics,
  ControllerOptions,
  ManagerOptions,
  ReconcileContext,
  ReconcileResult,
  Watched,
} from "./manager/contract.ts";
export { Manager } from "./manager/manager.ts";
// Types used by the public types of this package.
export type * from "@workqueue/core";
