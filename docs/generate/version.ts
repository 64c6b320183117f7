import core from "../../deno.json" with { type: "json" };

/** Returns the module with the version of a package, which is the version of the core. */
export function versionModule(): string {
  return `/** Version of this package. */\nexport const VERSION = "${core.version}";\n`;
}
