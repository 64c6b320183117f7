/** Selectors of objects by their labels and fields. */

import { fieldTerms, fieldTest, labelTest } from "../cache/selectors.ts";
import type { Stored } from "./objects.ts";
import type { Resource } from "./resource.ts";
import { Failure } from "./status.ts";

/** Condition that an object meets or not. */
export type Condition = (object: Stored) => boolean;

/** Returns the condition of a label selector, such as `app=web,tier in (a, b),!canary`. */
export function labelCondition(selector: string): Condition {
  const meets = parsed(() => labelTest(selector));
  return ({ metadata: { labels = {} } }) => meets(labels);
}

/** Returns the condition of a field selector, such as `metadata.name=web`. */
export function fieldCondition(selector: string, resource: Resource): Condition {
  const terms = parsed(() => fieldTerms(selector));
  const selectable = ["metadata.name", "metadata.namespace", ...resource.selectable];
  const other = terms.find(({ path }) => !selectable.includes(path));
  if (other) throw new Failure(400, `field label not supported: ${other.path}`);
  return fieldTest(terms);
}

function parsed<R>(parse: () => R): R {
  try {
    return parse();
  } catch (error) {
    throw new Failure(400, (error as Error).message);
  }
}
