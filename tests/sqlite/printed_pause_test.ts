/** Test of the text printed for paused queues in files. */

import { printedPauseSuite } from "../contracts/printed_pause_suite.ts";
import { inFile } from "./place.ts";

printedPauseSuite(inFile);
