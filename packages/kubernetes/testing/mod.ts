/**
 * A cluster in this process, for unit tests of controllers.
 *
 * @module
 */

import "../core_version.ts"; // imported first, to report a wrong core version before it causes another error

export type { ClusterRequest, Verb } from "./api_server.ts";
export {
  type FakeCluster,
  fakeCluster,
  type FakeClusterOptions,
  type Identified,
  type ListOptions,
} from "./fake_cluster.ts";
export type { FailureKind, FailureOptions, RequestMatch } from "./network.ts";
export type { Stored } from "./objects.ts";
export type { CustomKind } from "./resources.ts";
export type { Snapshot } from "./store.ts";
export type { DeleteOptions } from "./writes.ts";
