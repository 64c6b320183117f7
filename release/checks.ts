/** Checks of a release that need no other program, and the steps that only a person can take. */

import core from "../deno.json" with { type: "json" };
import { packageFolders } from "./entries.ts";
import { type Project, project } from "./project.ts";

/** Options of the checks. */
interface CheckOptions {
  /** Whether missing addresses are allowed. */
  "dry-run"?: boolean | undefined;
  /** Tag of the release, such as `v0.1.0`. */
  tag?: string | undefined;
}

/** Fields of a `deno.json` that this file uses. */
interface Manifest {
  readonly name: string;
  readonly version: string;
}

/** Returns the problems that each check finds, by the title of the check. */
export async function failuresOf(root: URL, { "dry-run": isDryRun = false, tag }: CheckOptions) {
  const read = (path: string) => Deno.readTextFile(new URL(path, root));
  const all = packageFolders(root);
  const manifests = await Promise.all(
    all.map(async (folder) => JSON.parse(await read(`${folder}deno.json`)) as Manifest),
  );
  const { version } = manifests[0]!;
  const workflow = await read(".github/workflows/publish.yml");
  const missing = missingAddresses(project);
  return {
    "all packages have one version": manifests.filter((manifest) => manifest.version !== version)
      .map((manifest) => `${manifest.name} has version ${manifest.version}, the core ${version}`),
    "the changelog has the version": (await read("CHANGELOG.md")).includes(`\n## [${version}]`)
      ? []
      : [`CHANGELOG.md has no section "## [${version}]"`],
    "the tag is the version": tag === undefined || tag === `v${version}` ? [] : [`the tag is ${tag}, not v${version}`],
    "the workflow publishes each package, and proves where it comes from": [
      ...all.map((folder) => folder.slice(0, -1)).filter((folder) => !workflow.includes(folder))
        .map((folder) => `publish.yml lacks ${folder}`),
      ...workflow.includes("id-token: write") ? [] : ["publish.yml lacks the permission 'id-token: write'"],
    ],
    "project.json has every address": isDryRun ? [] : missing.map((name) => `'${name}' is null`),
  };
}

function missingAddresses(project: Project): string[] {
  return Object.entries(project).filter(([, value]) => value === null).map(([name]) => name);
}

/** Returns the steps of a release that only a person with accounts can take. */
export function stepsLeft(project: Project): string[] {
  const missing = missingAddresses(project);
  return [
    ...missing.length === 0 ? [] : [
      `Set ${
        missing.map((name) => `'${name}'`).join(", ")
      } in release/project.json, run 'npx -y deno task generate', and commit.`,
    ],
    "Create the scope @workqueue on jsr.io, create each package in it, and link each to the repository.",
    "Create the organization workqueue on npmjs.com, and name the workflow publish.yml as trusted publisher of each package.",
    'Replace "not published yet" in CHANGELOG.md with the date.',
    `Push the tag: git tag v${core.version} && git push origin v${core.version}. The workflow publishes everything.`,
  ];
}
