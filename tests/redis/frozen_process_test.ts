/** Test of processes that are frozen while they hold leases of a queue on Redis. */

import { frozenProcessSuite } from "../contracts/frozen_process_suite.ts";
import { onRedis } from "./place.ts";

frozenProcessSuite(onRedis);
