/** Test of the scopes of `RetryAfterError` on queues on Redis. */

import { retryScopeSuite } from "../contracts/retry_scope_suite.ts";
import { onRedis } from "./place.ts";

retryScopeSuite(onRedis);
