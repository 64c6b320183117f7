/** Rights of the user under whose name controllers run in some tests. */

import type { Admin } from "./admin.ts";

const ROLES = "/apis/rbac.authorization.k8s.io/v1";
const API_GROUP = "rbac.authorization.k8s.io";

/** User to whom the token `token-of-controller` belongs. */
export const CONTROLLER = { token: "token-of-controller" };

/** Rule of a role. */
export interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
}

/** Rules for all that the greeter does. */
export const OF_GREETER: readonly Rule[] = [
  { apiGroups: [""], resources: ["configmaps"], verbs: ["*"] },
  { apiGroups: [""], resources: ["secrets"], verbs: ["*"] },
  { apiGroups: ["coordination.k8s.io"], resources: ["leases"], verbs: ["*"] },
];

/** Gives the user `controller` rights for the first time. */
export async function grant(admin: Admin, rules: readonly Rule[]): Promise<void> {
  await admin.create(`${ROLES}/clusterroles`, { metadata: { name: "greeter" }, rules });
  await admin.create(`${ROLES}/clusterrolebindings`, {
    metadata: { name: "greeter" },
    roleRef: { apiGroup: API_GROUP, kind: "ClusterRole", name: "greeter" },
    subjects: [{ apiGroup: API_GROUP, kind: "User", name: "controller" }],
  });
}

/** Replaces the rights of the user `controller`. */
export async function change(admin: Admin, rules: readonly Rule[]): Promise<void> {
  await admin.patch(`${ROLES}/clusterroles/greeter`, { rules });
}
