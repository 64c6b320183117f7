/** Scale subresource: the number of replicas of an object, whatever its kind. */

import { type Stored, valueAt, withValueAt } from "./objects.ts";
import type { Resource } from "./resources.ts";

/** Returns the scale of an object. */
export function scaleOf({ scale }: Resource, object: Stored): Stored {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata;
  const selector = scale!.selector && valueAt(object, scale!.selector);
  return {
    kind: "Scale",
    apiVersion: "autoscaling/v1",
    metadata: { name, namespace, uid, resourceVersion, creationTimestamp },
    spec: { replicas: valueAt(object, scale!.spec) ?? 0 },
    status: { replicas: valueAt(object, scale!.status) ?? 0, ...(selector !== undefined && { selector }) },
  };
}

/** Returns an object with the number of replicas of a scale. */
export function withScale({ scale }: Resource, object: Stored, wanted: Stored): Stored {
  return withValueAt(object, scale!.spec, valueAt(wanted, "spec.replicas")) as Stored;
}
