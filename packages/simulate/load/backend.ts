import type { LoadDefinition } from "./kinds.ts";
import { scopeField } from "./scope.ts";

const fields = {
  capacity: {
    kind: "number",
    min: 0.001,
    description: "Number of attempts that the backend works on at full speed. More attempts share its speed.",
  },
  limit: {
    kind: "number",
    min: 1,
    infinite: true,
    default: Infinity,
    description: "Number of attempts from which on the backend refuses further ones at once. Default: no limit.",
  },
  quota: {
    kind: "integer",
    min: 1,
    required: false,
    description: "Number of attempts per minute from which on the backend refuses further ones until the minute ends.",
  },
  refusesAfter: {
    kind: "duration",
    default: 0,
    description: "Time after which the backend refuses an attempt beyond its limit or quota. Default: at once.",
  },
  stops: {
    kind: "boolean",
    default: false,
    description: "Whether the backend stops working on an attempt that has timed out.",
  },
  retryAfter: {
    kind: "duration",
    required: false,
    description: "A refusal asks for a retry after this time, as with the header Retry-After.",
  },
  scope: scopeField,
} as const;

const backend: LoadDefinition<"backend", typeof fields> = {
  type: "backend",
  description: "A backend that all attempts share, and that becomes slower the more attempts it works on.",
  options: fields,
  create: (options) => options,
};

/** The only type of backend. */
export const backendDefinitions: readonly LoadDefinition<"backend", never>[] = [backend] as never;
