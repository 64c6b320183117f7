/** Test of the scopes of `RetryAfterError` on queues in files. */

import { retryScopeSuite } from "../contracts/retry_scope_suite.ts";
import { inFile } from "./place.ts";

retryScopeSuite(inFile);
