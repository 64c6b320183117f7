/**
 * Throws if `@workqueue/core` has another version. Loaded before a command runs, but not for `--version`, which doesn't
 * need the core.
 */

import { requireVersion } from "@workqueue/core/internal";
import { VERSION } from "./version.ts";

requireVersion("@workqueue/cli", VERSION);
