import type { LimiterDescription, ThrottleDescription } from "@workqueue/core";
import { formatDuration, formatNumber, hasMethods } from "@workqueue/core/internal";

/** Description of a limiter or a throttle in a config. */
type Description = LimiterDescription | ThrottleDescription;

/** Returns the options of a part as text for display, and the descriptions of the parts inside it. */
export function optionsOf<D extends Description>(
  description: D,
): { readonly options: Readonly<Record<string, string>>; readonly inside: readonly D[] } {
  const fields = description.definition().options;
  const options: Record<string, string> = {};
  const inside: D[] = [];
  for (const [option, value] of Object.entries(description.options)) {
    const parts = (Array.isArray(value) ? value : [value]) as readonly unknown[];
    if (parts.every((part): part is D => isDescription(part))) inside.push(...parts);
    else options[option] = optionText(value, fields[option]?.kind);
  }
  return { options, inside };
}

function isDescription(value: unknown): value is Description {
  return hasMethods(value, "definition", "create");
}

function optionText(value: unknown, kind: string | undefined): string {
  if (value === Infinity) return "unlimited";
  if (Array.isArray(value) && kind === "durations") return value.map(formatDuration).join(", ");
  if (typeof value === "number") return kind === "duration" ? formatDuration(value) : formatNumber(value);
  return typeof value === "string" ? value : JSON.stringify(value);
}
