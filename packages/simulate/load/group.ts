import type { LoadDefinition } from "./kinds.ts";

const fields = {
  name: {
    kind: "string",
    minLength: 1,
    description: "Name of the group. Keys begin with the name and a slash, such as `images/item-7`.",
  },
  share: {
    kind: "number",
    min: 0,
    default: 1,
    description: "Weight of the group among all arrivals.",
  },
  slowness: {
    kind: "number",
    min: 0,
    default: 1,
    description: "Factor by which the group's attempts take longer than the work of the load.",
  },
} as const;

const group: LoadDefinition<"group", typeof fields> = {
  type: "group",
  description: "A group of keys, such as a tenant.",
  options: fields,
  create: (options) => options,
};

/** The only type of group. */
export const groupDefinitions: readonly LoadDefinition<"group", never>[] = [group] as never;
