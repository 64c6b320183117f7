import { argumentError } from "../base/errors.ts";

export const PAUSE = "pause group";
export const RESUME = "resume group";

/** Creates the error for a queue that has no groups. */
export function noGroups(action: string): Error {
  return argumentError(action, "for groups, there must be a discipline, such as createFairDiscipline()", Error);
}
