/** Names of the contenders in the tables, and of their npm packages. */

/** This package. */
export const OURS = "@workqueue/sqlite";

/** This package, if each add waits for the previous one, so that each add is a commit of its own. */
export const ONE_COMMIT_EACH = "@workqueue/sqlite, one add at a time";

/** This package, if a thread writes to the file. */
export const IN_THREAD = "@workqueue/sqlite, `thread: true`";

/** Package for queues on Redis. */
export const REDIS = "@workqueue/redis";

/** Peers: queues of others that store items in a file of SQLite. */
export const BUNQUEUE = "bunqueue";
export const LITEQUE = "liteque";
export const PLAINJOB = "plainjob";

/** First version of Node that runs this package. */
export const NODE = "node@22";

/** npm packages that the processes of the benchmark import. */
export const PACKAGES: readonly string[] = [
  "@redis/client",
  "better-sqlite3",
  "bunqueue",
  "drizzle-orm",
  "liteque",
  "plainjob",
];
