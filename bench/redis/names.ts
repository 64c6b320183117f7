/** Names of the contenders in the tables. */

/** This package. */
export const OURS = "@workqueue/redis";

/** This package with other orders than first in, first out. */
export const PRIORITY = "priority";
export const FAIR = "fair";

/** The peer. */
export const BULLMQ = "BullMQ";
