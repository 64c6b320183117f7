/**
 * Definition of the kind `Website`, and its type in TypeScript, which comes from the definition's schema.
 *
 * ```sh
 * npx -y deno run --config deno.all.json examples/controller/website.ts | kubectl apply -f -
 * ```
 *
 * @module
 */

import type { KubeObject } from "@workqueue/kubernetes";

const schema = {
  type: "object",
  required: ["spec"],
  properties: {
    spec: { type: "object", required: ["host"], properties: { host: { type: "string", minLength: 1 } } },
    status: {
      type: "object",
      properties: { observedGeneration: { type: "integer" }, aliases: { type: "array", items: { type: "string" } } },
    },
  },
} as const;

/** Type of the values that a schema allows. */
export type FromSchema<S> = S extends { type: "string" } ? string
  : S extends { type: "integer" | "number" } ? number
  : S extends { type: "boolean" } ? boolean
  : S extends { type: "array"; items: infer I } ? FromSchema<I>[]
  : S extends { type: "object"; properties: infer P } ?
      & { [K in keyof P as K extends Required<S> ? K : never]: FromSchema<P[K]> }
      & { [K in keyof P as K extends Required<S> ? never : K]?: FromSchema<P[K]> }
  : unknown;

type Required<S> = S extends { required: readonly (infer K)[] } ? K : never;

/** A website with a DNS name. */
export type Website = KubeObject & FromSchema<typeof schema>;

/** Definition of the kind, for the cluster. */
export const definition = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "websites.example.dev" },
  spec: {
    group: "example.dev",
    names: { kind: "Website", plural: "websites", singular: "website" },
    scope: "Namespaced",
    versions: [
      { name: "v1", served: true, storage: true, subresources: { status: {} }, schema: { openAPIV3Schema: schema } },
    ],
  },
};

if (import.meta.main) console.log(JSON.stringify(definition, undefined, 2));
