/**
 * Refuses a core of another version. The command loads this module before it does anything: `--version` needs no core.
 */

import { requireVersion } from "@workqueue/core/internal";
import { VERSION } from "./version.ts";

requireVersion("@workqueue/cli", VERSION);
