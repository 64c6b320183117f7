/** Tests of `fakeCluster`: the suite for API servers. */

import { fakeCluster } from "@workqueue/kubernetes/testing";
import { apiServerSuite } from "./api_server_suite.ts";

apiServerSuite("fake cluster", () => fakeCluster());
