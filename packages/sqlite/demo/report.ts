/** Reports that the service of the demo writes to its standard output, each as a line of JSON. */

/** Duration of a lease, in seconds. */
export const LEASE = 1;

/** Report of the service. */
export type Report =
  | { readonly kind: "started"; readonly port: number; readonly waiting: number }
  | { readonly kind: "failed"; readonly event: string; readonly error: string };
