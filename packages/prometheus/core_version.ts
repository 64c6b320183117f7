/** Throws if `@workqueue/core` has another version. The entry module loads this module first. */

import { requireVersion } from "@workqueue/core/internal";
import { VERSION } from "./version.ts";

requireVersion("@workqueue/prometheus", VERSION);
