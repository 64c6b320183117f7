/** Tests of `retryPriority` in a file. */

import { retryPrioritySuite } from "../contracts/retry_priority_suite.ts";
import { inFile } from "./place.ts";

retryPrioritySuite(inFile);
