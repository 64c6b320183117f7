/** Second file of `bundled.ts`. */

import { serveThread } from "@workqueue/sqlite/thread";

serveThread();
