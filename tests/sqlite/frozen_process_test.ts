/** Test of processes that are frozen while they hold leases of a queue in a file. */

import { frozenProcessSuite } from "../contracts/frozen_process_suite.ts";
import { inFile } from "./place.ts";

frozenProcessSuite(inFile);
