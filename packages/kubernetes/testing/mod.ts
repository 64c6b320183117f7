/**
 * A cluster in this process, for unit tests of controllers.
 *
 * @example Usage
 * ```ts
 * import { ApiError } from "@workqueue/kubernetes";
 * import { fakeCluster } from "@workqueue/kubernetes/testing";
 * import { assertEquals, assertRejects } from "@std/assert";
 *
 * const cluster = fakeCluster({ resources: [{ apiVersion: "example.com/v1", kind: "Greeter" }] });
 * cluster.create({ apiVersion: "example.com/v1", kind: "Greeter", metadata: { name: "a" }, spec: { name: "Ada" } });
 *
 * cluster.failNext({ verb: "get", resource: "greeters" }, 500);
 * const path = "/apis/example.com/v1/namespaces/default/greeters/a";
 * await assertRejects(() => cluster.client.request("GET", path), ApiError);
 * await cluster.client.request("GET", path);
 * assertEquals(cluster.count({ verb: "get" }), 2);
 * ```
 *
 * @module
 */

import "../core_version.ts"; // imported first, to report a wrong core version before it causes another error

export type { ClusterRequest, Verb } from "./cluster_request.ts";
export {
  type FakeCluster,
  fakeCluster,
  type FakeClusterOptions,
  type Identified,
  type ListOptions,
} from "./fake_cluster.ts";
export type { FailureKind, FailureOptions, RequestMatch } from "./network.ts";
export type { Stored } from "./objects.ts";
export type { CustomKind, ScalePaths } from "./resources.ts";
export type { Snapshot } from "./store.ts";
export type { DeleteOptions } from "./writes.ts";
