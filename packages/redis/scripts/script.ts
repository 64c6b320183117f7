import { add } from "./add.ts";
import { addRateLimited } from "./add_rate_limited.ts";
import { cancelAfter } from "./cancel_after.ts";
import { details } from "./details.ts";
import { forget } from "./forget.ts";
import { leave } from "./leave.ts";
import { limiters } from "./limiters.ts";
import { numRequeues } from "./num_requeues.ts";
import { pause } from "./pause.ts";
import { prelude, SERVER_TIME } from "./prelude.ts";
import { release } from "./release.ts";
import { releasing } from "./releasing.ts";
import { renew } from "./renew.ts";
import { resume } from "./resume.ts";
import { retryNow } from "./retry_now.ts";
import { snapshot } from "./snapshot.ts";
import { stats } from "./stats.ts";
import { turn } from "./turn.ts";
import type { Script } from "../connection/connection.ts";
import { createScript } from "../connection/script.ts";

/** The scripts of a queue, one for each call. */
export type Scripts = Readonly<Record<keyof typeof BODIES, Script>>;

const BODIES = {
  add,
  addRateLimited,
  cancelAfter,
  details,
  forget,
  leave,
  numRequeues,
  pause,
  release,
  renew,
  resume,
  retryNow,
  snapshot,
  stats,
  turn,
};

/** What takes work out of the queue, or nothing into it, goes on when the server's memory is full. */
const WHEN_FULL: readonly string[] = [
  "cancelAfter",
  "details",
  "forget",
  "leave",
  "numRequeues",
  "pause",
  "release",
  "renew",
  "resume",
  "retryNow",
  "stats",
  "snapshot",
  "turn",
];

/** What comes between the prelude and a script, where it needs that: to define functions takes time in each call. */
const FUNCTIONS: Readonly<Record<string, string>> = {
  addRateLimited: limiters,
  details: limiters,
  forget: limiters,
  leave: releasing,
  numRequeues: limiters,
  release: releasing,
  turn: limiters,
};

/** Makes the scripts. `time` is Lua for what says the time, as seconds and microseconds: tests have one of their own. */
export function createScripts(time: string = SERVER_TIME): Scripts {
  const scripts = Object.entries(BODIES).map(([name, body]) => {
    const flags = WHEN_FULL.includes(name) ? " flags=allow-oom" : "";
    return [name, createScript(`#!lua${flags}\n${prelude(time)}\n${FUNCTIONS[name] ?? ""}\n${body}`)];
  });
  return Object.fromEntries(scripts);
}
