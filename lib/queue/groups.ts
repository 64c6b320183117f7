import { argumentError } from "../base/errors.ts";

export const PAUSE = "pause group";
export const RESUME = "resume group";

/** Creates the error for a queue that has no groups. */
export function noGroups(action: string): Error {
  return argumentError(action, "there must be a discipline with pauseGroup, such as createFairDiscipline()", Error);
}
