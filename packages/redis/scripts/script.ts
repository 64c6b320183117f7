import type { Script } from "../connection/connection.ts";
import { add, addEach, addItems, addTraced } from "./add.ts";
import { addRateLimited } from "./add_rate_limited.ts";
import { cancel } from "./cancel.ts";
import { cancelDelayed } from "./cancel_delayed.ts";
import { restore, restoreGivenUp, stored } from "./copies.ts";
import { counts } from "./counts.ts";
import { define } from "./define.ts";
import { evictionPolicy } from "./eviction_policy.ts";
import { forget } from "./forget.ts";
import { discard, discardKeys, givenUp } from "./given_up.ts";
import { isEnding } from "./is_ending.ts";
import { leave } from "./leave.ts";
import { numRequeues } from "./num_requeues.ts";
import { SERVER_TIME } from "./declare.ts";
import { createOnFirstUse } from "./on_first_use.ts";
import { pause } from "./pause.ts";
import { pauseGroup, resumeGroup } from "./pause_group.ts";
import { pauseUntil } from "./pause_until.ts";
import { promoteDelayed } from "./promote_delayed.ts";
import { listForRedrive, redrive, redriveProgress, stopRedrive } from "./redrive.ts";
import { release } from "./release.ts";
import { renew } from "./renew.ts";
import { resume } from "./resume.ts";
import { dropOld } from "./retention.ts";
import { snapshot } from "./snapshot.ts";
import { turn } from "./turn.ts";
import { addAndWait, waits } from "./waits.ts";

/** Scripts of a queue, by name. Each call runs one script. */
export const SCRIPTS = {
  add,
  addAndWait,
  addEach,
  addItems,
  addRateLimited,
  addTraced,
  cancel,
  cancelDelayed,
  counts,
  define,
  discard,
  discardKeys,
  dropOld,
  evictionPolicy,
  forget,
  givenUp,
  isEnding,
  leave,
  listForRedrive,
  numRequeues,
  pause,
  pauseGroup,
  pauseUntil,
  promoteDelayed,
  redrive,
  redriveProgress,
  release,
  renew,
  restore,
  restoreGivenUp,
  resume,
  resumeGroup,
  snapshot,
  stopRedrive,
  stored,
  turn,
  waits,
};

type Name = keyof typeof SCRIPTS;

/** Arguments of a call to a script. */
export type ArgumentsOf<N extends Name> = Parameters<(typeof SCRIPTS)[N]["write"]>;

/** Row of a call to a script. */
export type RowOf<N extends Name> = ArgumentsOf<N> extends [unknown, readonly (infer Row)[]] ? Row : never;

/** Value of a script's reply. */
export type ReplyOf<N extends Name> = ReturnType<(typeof SCRIPTS)[N]["read"]>;

/** Scripts in the form in which they are sent to a server. */
export type Scripts = Readonly<Record<Name, Script>>;

/**
 * Creates the scripts.
 *
 * @param time A Lua expression for the time in seconds and microseconds. Tests replace it.
 * @param isPartition Whether the scripts are for the keys of partitions.
 */
export function createScripts(time: string = SERVER_TIME, isPartition = false): Scripts {
  return createOnFirstUse(SCRIPTS, time, isPartition);
}
