import { createSqliteQueue } from "../../packages/sqlite/mod.ts";
import type { Contender } from "../remote/contender.ts";
import { openOwn } from "../remote/ours.ts";

/** Queue of this repository. */
export const ours: Contender = (options) =>
  openOwn(
    options,
    (own) =>
      createSqliteQueue<unknown>({ name: options.queue, path: options.place, durability: options.durability, ...own }),
  );

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
