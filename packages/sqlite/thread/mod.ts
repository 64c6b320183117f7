/**
 * Server of the queues that have the option `thread`, for programs that are bundled into one file. Other programs need
 * no import of it.
 *
 * @module
 */

export { serveThread } from "./server.ts";
