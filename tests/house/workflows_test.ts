/** Tests of the workflows, for mistakes that would otherwise appear only on GitHub. */

import { assert, assertEquals, assertMatch } from "@std/assert";
import { parse } from "yaml";
import manifest from "../../deno.json" with { type: "json" };

const folder = new URL("../../.github/workflows/", import.meta.url);

interface Job {
  uses?: string;
  needs?: string;
  permissions?: Record<string, string>;
  steps?: { uses?: string; run?: string; "working-directory"?: string }[];
}

function jobsOf(file: string): Job[] {
  return Object.values((parse(Deno.readTextFileSync(new URL(file, folder))) as { jobs: Record<string, Job> }).jobs);
}

const files = [...Deno.readDirSync(folder)].map(({ name }) => name).sort();

Deno.test("workflows: actions are pinned by major, and tasks and tests that they run are there", () => {
  assertEquals(files, ["publish.yml", "test.yml"]);
  for (const { uses, run } of files.flatMap(jobsOf).flatMap(({ steps = [] }) => steps)) {
    assert((uses === undefined) !== (run === undefined));
    if (uses !== undefined) assertMatch(uses, /^[\w-]+\/[\w-]+@v\d+$/);
    assert(!run?.includes("npx -y deno "), "Deno is pinned by major too");
    for (const [, task] of run?.matchAll(/deno@\d+ task (\S+)/g) ?? []) assert(task! in manifest.tasks, task);
    for (const [test] of run?.matchAll(/tests\/\S+/g) ?? []) Deno.statSync(new URL(`../../${test}`, import.meta.url));
  }
});

Deno.test("workflows: published code was tested, and JSR learns its origin", () => {
  const jobs = jobsOf("publish.yml");
  const publishes = ({ run }: { run?: string }) => /deno@\d+ publish( --allow-dirty)?$/.test(run ?? "");
  const publishing = jobs.filter(({ steps = [] }) => steps.some(publishes));
  assertEquals(publishing.map(({ needs, permissions }) => [needs, permissions!["id-token"]]), [["test", "write"]]);
  const folders = publishing[0]!.steps!.filter(publishes).map((step) => step["working-directory"] ?? ".");
  // Dependencies first
  const names = [
    "config-file",
    "dashboard",
    "engine",
    "kubernetes",
    "opentelemetry",
    "prometheus",
    "redis",
    "simulate",
    "sqlite",
    "cli",
  ];
  assertEquals(folders, [".", ...names.map((name) => `packages/${name}`)]);
  const onNpm = publishing[0]!.steps!.find(({ run }) => run?.includes("npm@11 publish"))!.run!;
  assertEquals(/^for package in (.+); do$/m.exec(onNpm)![1]!.split(" "), folders);
  assert(jobs.some(({ uses }) => uses === "./.github/workflows/test.yml"));
});
