/** Names of the contenders in the tables. */

/** This package. */
export const OURS = "@workqueue/redis";

/** The peer. */
export const BULLMQ = "BullMQ";
