/** Check that the core has the version that this package requires. The entry point imports this module first. */

import { requireVersion } from "@workqueue/core/internal";
import { VERSION } from "./version.ts";

requireVersion("@workqueue/redis", VERSION);
