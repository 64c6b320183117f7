/**
 * A page that shows what queues do and what is stuck, and steers them.
 *
 * @module
 */

export { allowLocal, allowToken } from "./access.ts";
export type * from "./api.ts";
export type * from "./contract.ts";
export { createDashboard } from "./create_dashboard.ts";
