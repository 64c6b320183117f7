import { disciplines } from "../disciplines/disciplines.ts";
import { limiters } from "../limiters/limiters.ts";
import { throttles } from "../throttles/throttles.ts";
import type { Registries } from "./document.ts";

/** Returns the default registries, which have the built-in types and those that the program registered. */
export function defaultRegistries(): Registries {
  return { limiters, disciplines, throttles };
}
