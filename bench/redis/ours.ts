import { createRedisQueue } from "../../packages/redis/mod.ts";
import type { Contender, FullSession } from "../remote/contender.ts";
import { openOwn } from "../remote/ours.ts";

/** Queue of this repository. */
export const ours: Contender<FullSession> = (options) =>
  openOwn(options, (own) => createRedisQueue<unknown>({ name: options.queue, url: options.place, ...own }));
