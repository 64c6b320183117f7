import { createRedisQueue } from "../../packages/redis/mod.ts";
import type { Contender, FullSession } from "../remote/contender.ts";
import { openOwn } from "../remote/ours.ts";

/** Queue of this repository, first in, first out. */
export const ours: Contender<FullSession> = (options) =>
  openOwn(options, (own) => createRedisQueue<unknown>({ name: options.queue, url: options.place, ...own }));

/** Queues of this repository with other orders: ten priorities, and ten groups. */
export const byPriority: Contender<FullSession> = (options) => ours({ ...options, order: "priority" });
export const fair: Contender<FullSession> = (options) => ours({ ...options, order: "fair" });
