/**
 * A page that shows what queues do and what is stuck, and steers them.
 *
 * @module
 */

export type * from "./api.ts";
export type * from "./contract.ts";
