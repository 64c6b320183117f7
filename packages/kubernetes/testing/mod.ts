/**
 * A cluster in this process, for unit tests of controllers.
 *
 * @module
 */

import "../core_version.ts"; // imported first, to report a wrong core version before it causes another error

export type { Verb } from "./api_server.ts";
export {
  type FakeCluster,
  fakeCluster,
  type FakeClusterOptions,
  type Identified,
  type ListOptions,
} from "./fake_cluster.ts";
export type { FailureOptions, LoggedRequest, RequestMatch } from "./network.ts";
export type { CustomKind } from "./resources.ts";
