import { registerBuiltIns } from "../limiters/limiters.ts";
import type { PartDefinition } from "../registry/definition.ts";
import { bucketDefinitions } from "./bucket_kind.ts";

/**
 * Tells how likely it is that a definition refuses to update a part: those of somebody else's may, and so may what stands
 * in a template. Our own never do, so what they lose on the way, such as tokens beyond a smaller burst, is never missed.
 */
export function createRisks(): (definition: PartDefinition<string, unknown>) => number {
  const builtIns = registerBuiltIns();
  return (definition) => {
    const ours: readonly unknown[] = [bucketDefinitions.get(), builtIns.get(definition.type)];
    if (!ours.includes(definition)) return 2;
    return Object.values(definition.options).some((field) => "template" in field && field.template) ? 1 : 0;
  };
}
