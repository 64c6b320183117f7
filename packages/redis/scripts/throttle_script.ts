import type { Script } from "../connection/connection.ts";
import { SERVER_TIME } from "./declare.ts";
import { createOnFirstUse } from "./on_first_use.ts";
import { permits } from "./permits.ts";
import { tokens } from "./tokens.ts";

/** Scripts of a shared throttle, by name. */
export const THROTTLE_SCRIPTS = { permits, tokens };

/** Scripts in the form in which they are sent to a server. */
export type ThrottleScripts = Readonly<Record<keyof typeof THROTTLE_SCRIPTS, Script>>;

/** Creates the scripts. `time` is as for `createScripts`. */
export function createThrottleScripts(time: string = SERVER_TIME): ThrottleScripts {
  return createOnFirstUse(THROTTLE_SCRIPTS, time);
}
