/** Test of the errors of calls on queues on Redis. */

import { callErrorsSuite } from "../contracts/call_errors_suite.ts";
import { onRedis } from "./place.ts";

callErrorsSuite(onRedis);
