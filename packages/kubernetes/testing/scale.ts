/** Scale subresource: the number of replicas of an object, whatever its kind. */

import { type Stored, valueAt, withValueAt } from "./objects.ts";
import type { ScalePaths } from "./resource.ts";

/** Returns the scale of an object. */
export function scaleOf(
  { specReplicasPath, statusReplicasPath, labelSelectorPath }: ScalePaths,
  object: Stored,
): Stored {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata;
  const selector = labelSelectorPath && valueAt(object, labelSelectorPath);
  return {
    kind: "Scale",
    apiVersion: "autoscaling/v1",
    metadata: { name, namespace, uid, resourceVersion, creationTimestamp },
    spec: { replicas: valueAt(object, specReplicasPath) ?? 0 },
    status: { replicas: valueAt(object, statusReplicasPath) ?? 0, ...(selector !== undefined && { selector }) },
  };
}

/** Returns an object with the number of replicas of a scale. */
export function withScale({ specReplicasPath }: ScalePaths, object: Stored, scale: Stored): Stored {
  return withValueAt(object, specReplicasPath, valueAt(scale, "spec.replicas")) as Stored;
}
