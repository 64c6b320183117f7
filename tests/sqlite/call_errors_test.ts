/** Test of the errors of calls on queues in files. */

import { callErrorsSuite } from "../contracts/call_errors_suite.ts";
import { inFile } from "./place.ts";

callErrorsSuite(inFile);
