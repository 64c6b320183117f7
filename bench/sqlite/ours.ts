import { createSqliteQueue, type SqliteQueueOptions } from "../../packages/sqlite/mod.ts";
import type { Contender } from "../remote/contender.ts";
import { openOwn } from "../remote/ours.ts";

const oursWith = (more: Pick<SqliteQueueOptions, "thread">): Contender => (options) =>
  openOwn(options, (own) => {
    const { queue: name, place: path, durability } = options;
    return createSqliteQueue<unknown>({ name, path, durability, ...own, ...more });
  });

/** Queue of this repository. */
export const ours: Contender = oursWith({});

/** Queue of this repository whose file is written by a thread. */
export const inThread: Contender = oursWith({ thread: true });

/** Queue of this repository whose adds wait for each other, so that each of them is a commit of its own. */
export const oneCommitEach: Contender = async (options) => {
  const session = await ours(options);
  let last: Promise<unknown> = Promise.resolve();
  return {
    add: (key) => last = last.then(() => session.add(key)),
    addAll: (keys) => session.addAll(keys),
    openWorkers: (concurrency, handler) => session.openWorkers(concurrency, handler),
    left: () => session.left(),
    [Symbol.asyncDispose]: () => session[Symbol.asyncDispose](),
  };
};
