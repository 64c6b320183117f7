/**
 * A cluster in this process, for unit tests of controllers.
 *
 * @module
 */

import "../core_version.ts"; // imported first, to report a wrong core version before it causes another error

export {};
