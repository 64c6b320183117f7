import core from "../../deno.json" with { type: "json" };

/** The module with the version of a package, which is that of the core. */
export function versionModule(): string {
  return `/** The version of this package. */\nexport const VERSION = "${core.version}";\n`;
}
