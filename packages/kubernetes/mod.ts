/**
 * Kubernetes controllers: a client, caches that list and watch, controllers and a leader lease.
 *
 * @module
 */

import "./core_version.ts"; // imported first, to report a wrong core version before it causes another error

export { ApiError, type ApiStatus } from "./client/api_error.ts";
export { Client, type ClientOptions, type Query, type RequestOptions, type WatchOptions } from "./client/client.ts";
export { NoAnswerError } from "./client/no_answer_error.ts";
export type { ApiRequest, ApiResponse, Transport } from "./client/transport.ts";
export { keyOf, type KubeObject, type ObjectMeta, type OwnerReference } from "./kube_object.ts";
// Types used by the public types of this package.
export type { Duration, ErrorCode } from "@workqueue/core";
