/** Tests of `watchItem` on Redis, with and without partitions. */

import { watchSuite } from "../contracts/watch_suite.ts";
import { onRedis } from "./place.ts";

watchSuite(onRedis);
watchSuite((name, run) => onRedis(`3 partitions: ${name}`, run), 3);
