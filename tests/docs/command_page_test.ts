/** Tests of `docs/command.md` and its parts: scripts print the output shown below them, and all options are covered. */

import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { createRedisQueue } from "@workqueue/redis";
import type { Tokens } from "marked";
import { partsOf } from "../../docs/site/repository.ts";
import { ROOT } from "../cli/cli.ts";
import { giveUpAll } from "../redis/give_up_all.ts";
import { REDIS_SERVER, RedisServer } from "../redis/server.ts";
import { tokensOf } from "./markdown.ts";
import { openShell } from "./shell.ts";

const PAGE = "docs/command.md";

/** Options that need a server. On the pages, only scripts with `dead` have them. */
const OF_SERVERS = ["--redis", "--cluster", "--ca", "--partitions", "--from-partitions", "--to-partitions"];

/** Tokens of all pages on the command, in the order in which the first page lists the others. */
const tokens = [PAGE, ...partsOf(PAGE)].flatMap((page) =>
  tokensOf(Deno.readTextFileSync(ROOT + page)).filter((token) => token.type !== "space")
);

/**
 * Scripts on the pages, each with the output that is shown below the script, or with `""` if no output is shown.
 */
const examples = tokens.flatMap((token, index) => {
  const next = tokens[index + 1];
  return isCode(token, "sh") ? [{ script: token.text, shown: isCode(next, "text") ? next.text : "" }] : [];
});

function isCode(token: { type: string } | undefined, lang: string): token is Tokens.Code {
  return token?.type === "code" && (token as Tokens.Code).lang === lang;
}

/**
 * Removes the parts of an output that differ from run to run: progress after the first second, times and random values.
 */
function lasting(text: string): string {
  return text
    .replace(/^\d+( of \d+\+?)? done, .*\n/gm, "")
    .replace(/^(Wall time|Queue wait|Work time) .*$/gm, "$1")
    .replace(/http:\S+:\d+\/\?token=[0-9a-f]{32}$/gm, "ADDRESS")
    .replace(/"hash":"[0-9a-f]+"/g, '"hash"')
    .replace(/(?:[\d.]+ (?:m?s|min) )+ago\)/g, "AGO)")
    .replace(/"\d{4}-\d\d-\d\dT[\d:.]+Z"/g, "TIME")
    .replace(/Seconds":[\d.]+/g, 'Seconds"')
    .trimEnd();
}

function withoutSummaries(text: string): string {
  return text.replace(/^(Distinct items|Items) [^]*?^Work time .*\n/gm, "");
}

Deno.test(`${PAGE}: each script prints the output shown below it`, async () => {
  await using server = REDIS_SERVER === undefined ? undefined : await RedisServer.start();
  if (server !== undefined) {
    const errors = { "a.jpg": "no such file", "b.jpg": "no such file", "c.jpg": "HTTP 503" };
    await using queue = createRedisQueue({ name: "images", url: server.url });
    await giveUpAll(queue, errors);
  }
  const { workspace, run } = await openShell(server === undefined ? {} : { WORKQUEUE_REDIS: server.url });
  await using _ = workspace;
  for (const { script, shown } of examples) {
    if (server === undefined && script.includes("workqueue dead list --queue images")) continue;
    const printed = await run(script);
    const isWhole = /^Work time /m.test(shown);
    assertEquals(lasting(isWhole ? printed : withoutSummaries(printed)), lasting(shown), script);
  }
  assert(examples.length > 25);
});

Deno.test(`${PAGE}: each option of each command is explained, and is in a script`, async () => {
  const { workspace, run } = await openShell();
  await using _ = workspace;
  const rows = tokens.filter((token) => token.type === "table").flatMap((token) => (token as Tokens.Table).rows);
  const explained = rows.map(([first]) => first!.text).join("\n");
  const names = Array.from(
    (await run("workqueue --help")).matchAll(/^ {2}([a-z]+) \[options\]/gm),
    ([, name]) => name!,
  );
  assertEquals(names, [
    ...["run", "check", "schema", "delays", "simulate"],
    ...["push", "status", "pause", "resume", "cancel", "copy", "work"],
  ]);
  for (const name of [...names, "dead list", "dead redrive", "dead discard"]) {
    const [command] = name.split(" ");
    // The options that `work` and `run` have in common are in scripts with `run`.
    const used = [...optionsInScripts(command!), ...command === "work" ? optionsInScripts("run") : []];
    const options = [...(await run(`workqueue ${name} --help`)).matchAll(/^ {2}(?:-\w, )*--[a-z-]+/gm)]
      .map(([flags]) => flags.trim().split(", "))
      .filter((flags) => !flags.includes("--help"));
    assert(options.length > 0);
    for (const flags of options) {
      const isOfServers = command !== "dead" && OF_SERVERS.includes(flags[0]!);
      assert(isOfServers || flags.some((flag) => used.includes(flag)), `no script has workqueue ${name} ${flags}`);
      for (const flag of flags) assertMatch(explained, new RegExp(`\`${flag}[\` ]`), `no table has ${flag}`);
    }
  }
});

/** Returns the options that scripts pass to a subcommand of `workqueue`. */
function optionsInScripts(name: string): string[] {
  const calls = examples.flatMap(({ script }) => [...script.matchAll(/\bworkqueue (\w+)([^|&;\n]*)/g)]);
  const args = calls.filter(([, command]) => command === name).flatMap(([, , rest]) =>
    rest!.split(" -- ")[0]!.split(" ")
  );
  return args.filter((arg) => arg.startsWith("-"));
}

Deno.test(`${PAGE}: the replacements of lines of xargs and GNU parallel can be run`, async () => {
  const { workspace, run } = await openShell();
  await using _ = workspace;
  workspace.write("list", "a.txt\nb.txt\n");
  workspace.write("list.jsonl", '{"name":"a"}\n');
  const table = tokens.find((token) => token.type === "table" && (token as Tokens.Table).header[0]!.text === "there");
  const lines = (table as Tokens.Table).rows.map(([, here]) => here!.text.slice(1, -1));
  for (const line of lines) {
    assertStringIncludes(line, "workqueue run ");
    const printed = await run(`${line.replace("workqueue run ", "workqueue run --dry-run ")}\necho "exit code $?"`);
    assert(/^(.+\n)+exit code 0\n$/.test(printed), `${line}: ${printed}`);
  }
});
