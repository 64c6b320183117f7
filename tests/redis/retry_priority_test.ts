/** Tests of `retryPriority` on Redis, with and without partitions. */

import { retryPrioritySuite } from "../contracts/retry_priority_suite.ts";
import { onRedis } from "./place.ts";

retryPrioritySuite(onRedis);
retryPrioritySuite((name, run) => onRedis(`3 partitions: ${name}`, run), 3);
