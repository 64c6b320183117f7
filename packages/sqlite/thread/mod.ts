/**
 * Server of the queues that have the option `thread`, for programs that are bundled into one file. Other programs need
 * no import of it.
 *
 * @module
 */

import "../core_version.ts"; // imported first, so that a wrong core version fails here and not in another module

export { serveThread } from "./server.ts";
