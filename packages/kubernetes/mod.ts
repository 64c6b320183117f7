/**
 * Kubernetes controllers: a client, caches that list and watch, controllers and a leader lease.
 *
 * @module
 */

import "./core_version.ts"; // imported first, to report a wrong core version before it causes another error

export { keyOf, type KubeObject, type ObjectMeta, type OwnerReference } from "./kube_object.ts";
