/**
 * The work queue of `@workqueue/core` on Redis or Valkey, for more than one process.
 *
 * @module
 */

export {};
