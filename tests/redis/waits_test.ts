/** Tests of `addAndWait` on Redis, with and without partitions. */

import { waitsSuite } from "../contracts/waits_suite.ts";
import { onRedis } from "./place.ts";

waitsSuite(onRedis);
waitsSuite((name, run) => onRedis(`3 partitions: ${name}`, run), 3);
