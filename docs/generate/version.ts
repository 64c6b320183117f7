import core from "../../deno.json" with { type: "json" };

/** Returns the source of the module that exports a package's version, which is also the version of the core. */
export function versionModule(): string {
  return `/** Version of this package. */\nexport const VERSION = "${core.version}";\n`;
}
