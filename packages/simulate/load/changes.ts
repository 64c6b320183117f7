/**
 * Types of changes at a certain time: a reload, a pause, a deploy, another concurrency, and another capacity.
 *
 * @module
 */

import type { Change, LoadDefinition } from "./kinds.ts";

const at = { kind: "duration", description: "Time of the change." } as const;

const reloadFields = {
  at,
  config: {
    kind: "string",
    minLength: 1,
    description: "Path of the config that takes effect, from the load's folder.",
  },
} as const;
const pauseFields = { at, for: { kind: "duration", description: "Time for which no attempt starts." } } as const;
const deployFields = {
  at,
  for: {
    kind: "duration",
    default: 0,
    description: "Time from the end of the old process to the start of the new one.",
  },
  relist: {
    kind: "boolean",
    default: true,
    description: "Whether the new process adds all unfinished items again. If not, delayed and missed items are lost.",
  },
} as const;
const concurrencyFields = {
  at,
  concurrency: { kind: "integer", min: 1, description: "Maximum number of items worked on at once from then on." },
} as const;

const capacityFields = {
  at,
  capacity: { kind: "number", min: 0.001, description: "Capacity of the backend from then on." },
  limit: {
    kind: "number",
    min: 1,
    infinite: true,
    required: false,
    description: "Number of attempts from which on the backend refuses further ones. Default: as before.",
  },
} as const;

const reload: LoadDefinition<"change", typeof reloadFields> = {
  type: "reload",
  description: "Another config takes effect.",
  options: reloadFields,
  create: ({ at, config }): Change => ({ at, action: { type: "reload", config } }),
};

const pause: LoadDefinition<"change", typeof pauseFields> = {
  type: "pause",
  description: "The pool is paused, and resumed later.",
  options: pauseFields,
  create: ({ at, for: duration }): Change => ({ at, action: { type: "pause", for: duration } }),
};

const deploy: LoadDefinition<"change", typeof deployFields> = {
  type: "deploy",
  description: "The process drains its queue and ends, and a new process starts.",
  options: deployFields,
  create: ({ at, for: duration, relist }): Change => ({ at, action: { type: "deploy", for: duration, relist } }),
};

const concurrency: LoadDefinition<"change", typeof concurrencyFields> = {
  type: "concurrency",
  description: "The pool's concurrency changes.",
  options: concurrencyFields,
  create: ({ at, concurrency }): Change => ({ at, action: { type: "concurrency", concurrency } }),
};

const capacity: LoadDefinition<"change", typeof capacityFields> = {
  type: "capacity",
  description: "The capacity of the backend changes.",
  options: capacityFields,
  create: ({ at, capacity, limit }): Change => ({ at, action: { type: "capacity", capacity, limit } }),
};

/** Types of changes. */
export const changeDefinitions: readonly LoadDefinition<"change", never>[] = [
  reload,
  pause,
  deploy,
  concurrency,
  capacity,
] as never;
