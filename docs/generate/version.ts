import core from "../../deno.json" with { type: "json" };

/** Returns the source of the module that exports the version. All packages have the same version as the core. */
export function versionModule(): string {
  return `/** Version of this package. */\nexport const VERSION = "${core.version}";\n`;
}
