/** Refuses a core of another version. The entry loads this module before any other. */

import { requireVersion } from "@workqueue/core/internal";
import { VERSION } from "./version.ts";

requireVersion("@workqueue/config-file", VERSION);
