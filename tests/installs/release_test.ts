/** Tests of releases, except for publishing itself. They run only on Deno, which makes releases. */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { pathToFileURL } from "node:url";
import { failuresOf, stepsLeft } from "../../release/checks.ts";
import { filesAddress, withAddresses } from "../../release/project.ts";
import { everyTest } from "../every.ts";
import { manifest, Project, ROOT, run } from "./project.ts";

const NONE = { repository: null, homepage: null, bugs: null, author: null };

Deno.test("project: the address of the files contains the version, and there is no address without a repository", () => {
  const repository = "https://git.example/owner/name";
  assertEquals(filesAddress({ ...NONE, repository }), `${repository}/blob/v${manifest.version}/`);
  assertEquals(filesAddress(NONE), undefined);
});

const README = "See [the `guide`](../../docs/redis.md#keys), [below](#use), [Go](https://go.dev) and\n" +
  "[![CI](../../docs/ci.svg)](../core/README.md).";

Deno.test("project: relative links of a README become absolute, and other links stay", () => {
  assertEquals(
    withAddresses(README, "packages/redis/", "https://x.example/"),
    "See [the `guide`](https://x.example/docs/redis.md#keys), [below](#use), [Go](https://go.dev) and\n" +
      "[![CI](https://x.example/docs/ci.svg)](https://x.example/packages/core/README.md).",
  );
});

Deno.test("project: without an address, the text of a relative link remains", () => {
  assertEquals(
    withAddresses("See [the `guide`](../../docs/redis.md#keys), [below](#use).", "packages/redis/", undefined),
    "See the `guide`, [below](#use).",
  );
});

/** Returns the problems of a repository with these files, without the checks that find none. */
async function problemsOf(files: Record<string, string>, options: Parameters<typeof failuresOf>[1]) {
  using project = new Project();
  for (const [path, text] of Object.entries(files)) {
    Deno.mkdirSync(project.path(`${path}/..`), { recursive: true });
    Deno.writeTextFileSync(project.path(path), text);
  }
  const failures = await failuresOf(pathToFileURL(`${project.folder}/`), options);
  return Object.fromEntries(Object.entries(failures).filter(([, problems]) => problems.length > 0));
}

const READY = {
  "deno.json": JSON.stringify({ name: "@x/core", version: "1.2.0" }),
  "packages/redis/deno.json": JSON.stringify({ name: "@x/redis", version: "1.2.0" }),
  "CHANGELOG.md": "# Changelog\n\n## [1.2.0] – 2030-01-01\n",
  ".github/workflows/publish.yml": "id-token: write\nworking-directory: packages/redis\n",
};

Deno.test("release: a repository that is ready has no problems", async () => {
  assertEquals(await problemsOf(READY, { "dry-run": true, tag: "v1.2.0" }), {});
});

const BROKEN: [title: string, files: Partial<typeof READY>, tag: string, problem: string][] = [
  [
    "all packages have one version",
    { "packages/redis/deno.json": JSON.stringify({ name: "@x/redis", version: "1.1.0" }) },
    "v1.2.0",
    "@x/redis has version 1.1.0, the core 1.2.0",
  ],
  [
    "the changelog has the version",
    { "CHANGELOG.md": "# Changelog\n\n## [1.1.0] – 2029-01-01\n" },
    "v1.2.0",
    'CHANGELOG.md has no section "## [1.2.0]"',
  ],
  ["the tag is the version", {}, "v1.1.0", "the tag is v1.1.0, not v1.2.0"],
  [
    "the workflow publishes each package, and proves where it comes from",
    { ".github/workflows/publish.yml": "id-token: write\n" },
    "v1.2.0",
    "publish.yml lacks packages/redis",
  ],
  [
    "the workflow publishes each package, and proves where it comes from",
    { ".github/workflows/publish.yml": "working-directory: packages/redis\n" },
    "v1.2.0",
    "publish.yml lacks the permission 'id-token: write'",
  ],
];

for (const [title, files, tag, problem] of BROKEN) {
  Deno.test(`release: fails if not ${title}: ${problem}`, async () => {
    assertEquals(await problemsOf({ ...READY, ...files }, { "dry-run": true, tag }), { [title]: [problem] });
  });
}

Deno.test("release: a missing address fails a release, and is listed as a remaining step in a dry run", async () => {
  const problems = await problemsOf(READY, {});
  assertEquals(Object.keys(problems), ["project.json has every address"]);
  assertStringIncludes(stepsLeft(NONE)[0]!, "Set 'repository', 'homepage', 'bugs', 'author' in release/project.json");
  const complete = { repository: "r", homepage: "h", bugs: "b", author: "a" };
  assert(!stepsLeft(complete)[0]!.includes("project.json"));
});

everyTest("release: a dry run succeeds, and prints the remaining steps", async () => {
  const { stdout } = await run(Deno.execPath(), ["task", "release", "--dry-run"], ROOT);
  assert(!stdout.includes("FAILED"), stdout);
  for (const step of stepsLeft(NONE)) assertStringIncludes(stdout, step);
});
