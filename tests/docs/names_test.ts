/**
 * Tests of the names in the text of pages: members of queues and other objects, functions, options, and commands with
 * their flags. In blocks of TypeScript, only the comments are looked at, because the types are checked.
 */

import { assert, assertEquals } from "@std/assert";
import type { Tokens } from "marked";
import { guide } from "../../docs/site/repository.ts";
import { ROOT, run } from "../../release/commands.ts";
import { tokensOf } from "./markdown.ts";
import { publicNames } from "./public_names.ts";

/** Types of the objects that pages name, by the names of the objects. */
const OBJECTS: Readonly<Record<string, readonly string[]>> = {
  bucket: ["TokenBucket"],
  config: ["WorkQueueConfig"],
  context: ["HandlerContext"],
  lease: ["Lease", "RemoteLease"],
  limiter: ["RateLimiter"],
  limiters: ["LimiterRegistry"],
  metrics: ["InMemoryMetrics"],
  pool: ["WorkerPool"],
  queue: ["RateLimitingQueue", "RedisQueue", "SqliteQueue", "GivenUpQueue"],
  recording: ["LoadRecording"],
  reservation: ["Reservation"],
  snapshot: ["QueueSnapshot", "RemoteQueueSnapshot"],
  throttle: ["Throttle", "TokenBucket"],
};

/** Pages that name options and functions of other products throughout. Members of `OBJECTS` are checked there too. */
const PAGES_ON_OTHERS: readonly string[] = [
  "docs/beside-others.md",
  "docs/from-bullmq.md",
  "docs/from-client-go.md",
  "docs/from-p-queue.md",
];

/** Names of other products, by the pages that name them. */
const FOREIGN: Readonly<Record<string, readonly string[]>> = {
  "docs/config/check.md": ["allErrors"], // Ajv
  "docs/from-bullmq.md": ["addBulk", "getFailed", "getJobCounts", "remove", "retryJobs", "setGlobalConcurrency"],
  "docs/from-p-queue.md": ["clear", "onIdle", "onSizeLessThan", "setPriority"],
  "docs/operate/alerts.md": ["absent"], // Prometheus
  "docs/redis/connecting.md": ["autoResendUnfulfilledCommands", "keyPrefix"],
  "docs/redis/leases.md": ["terminationGracePeriodSeconds"],
  "docs/redis/production.md": ["absent"], // Prometheus
  "docs/shutdown.md": ["terminationGracePeriodSeconds"],
  "docs/sizes.md": ["skipLibCheck"], // TypeScript
  "docs/testing.md": ["mock", "setImmediate", "tickAsync"],
  "docs/troubleshooting.md": ["tickAsync"],
  "packages/opentelemetry/README.md": ["getMeter", "withoutScopeInfo"],
};

/** Flags of other programs, by the program. */
const FOREIGN_FLAGS: Readonly<Record<string, readonly string[]>> = {
  deno: ["--allow-env", "--allow-net", "--allow-read", "--allow-sys", "--allow-write"],
  docker: ["--time"],
  "the conformance program": ["--engine"],
  V8: ["--optimize-for-size"],
  "workers of partitioned queues on Redis": ["--default"],
};
const foreignFlags = new Set(Object.values(FOREIGN_FLAGS).flat());

const names = await publicNames();

/** Fields of documents, of the records that the command writes, and of the state of a queue on Redis. */
const fields = new Set([
  ...namesIn("schema/", /"(\w+)":/g),
  ...namesIn("packages/cli/report/", /\b([a-z]\w*)\??:/g),
  ...namesIn("packages/redis/lua/", /q\.meta, '(\w+)'/g),
]);

function namesIn(folder: string, pattern: RegExp): string[] {
  return [...Deno.readDirSync(new URL(folder, ROOT))].flatMap(({ name }) => {
    return [...read(`${folder}${name}`).matchAll(pattern)].map(([, found]) => found!);
  });
}

function read(path: string): string {
  return Deno.readTextFileSync(new URL(path, ROOT));
}

const pages = [
  "README.md",
  ...guide,
  ...[...Deno.readDirSync(new URL("packages/", ROOT))].map(({ name }) => `packages/${name}/README.md`),
].sort();

/** Returns the names in the programs to which a page links. */
function namesOfPrograms(markdown: string): Set<string> {
  const links = [...markdown.matchAll(/\]\((?:\.\.\/)+(examples\/[\w/]+\.ts)\)/g)].map(([, path]) => path!);
  return new Set(links.flatMap((path) => read(path).match(/[A-Za-z]\w*/g) ?? []));
}

/** Returns the code in the text of a page, and the members that comments in its programs name. */
function codesIn(markdown: string): string[] {
  return tokensOf(markdown).flatMap((token) => {
    if (token.type === "codespan") return [unescaped((token as Tokens.Codespan).text)];
    if (token.type !== "code" || !(token as Tokens.Code).lang?.startsWith("ts")) return [];
    const comments = (token as Tokens.Code).text.match(/(?<=^|\s)\/\/ .*/gm) ?? [];
    return comments.flatMap((comment) => comment.match(/\b[a-z]\w*\.\w+/g) ?? []);
  });
}

function unescaped(text: string): string {
  return text.replaceAll("&quot;", '"').replaceAll("&#39;", "'").replaceAll("&lt;", "<").replaceAll("&gt;", ">")
    .replaceAll("&amp;", "&");
}

function isMember(object: string, member: string): boolean {
  return OBJECTS[object]!.some((type) => names.membersOf(type).has(member));
}

/** Returns the names in a piece of code that are not ours. `isKnown` tells other names that the page may use. */
function unknownNames(code: string, isOnOthers: boolean, isKnown: (name: string) => boolean): string[] {
  const isOurs = (name: string) => names.exports.has(name) || names.members.has(name) || isKnown(name);
  const [, object, member] = /^(?:await )?([a-z]\w*)\.(\w+)/.exec(code) ?? [];
  if (object !== undefined) {
    const isChecked = object in OBJECTS && !/\.(db|json|jsonl|ts)\b/.test(code) &&
      !(isOnOthers && /^[A-Z]/.test(member!));
    return isChecked && !isMember(object, member!) && !isKnown(member!) ? [`${object}.${member}`] : [];
  }
  if (isOnOthers) return [];
  const [, called] = /^(?:new |await )?([A-Za-z]\w*)\(/.exec(code) ?? [];
  const [, option] = /^([a-z]\w*): /.exec(code) ?? [];
  const [bare] = /^[a-z]+[A-Z]\w*$/.exec(code) ?? [];
  return [called, option, bare].flatMap((name) => name === undefined || isOurs(name) ? [] : [name]);
}

/** Returns the names on a page that are neither ours, nor in a document, nor in a program to which the page links. */
function unknownNamesOn(page: string): string[] {
  const markdown = read(page);
  const shown = namesOfPrograms(markdown);
  const isOnOthers = PAGES_ON_OTHERS.includes(page);
  return codesIn(markdown).flatMap((code) =>
    unknownNames(code, isOnOthers, (name) => fields.has(name) || shown.has(name))
  );
}

for (const page of pages) {
  Deno.test(`${page}: its text names members, functions and options that exist`, () => {
    const isForeign = (name: string) => FOREIGN[page]?.includes(name.slice(name.indexOf(".") + 1)) === true;
    assertEquals(unknownNamesOn(page).filter((name) => !isForeign(name)), []);
  });
}

Deno.test("each name of another product is on its page", () => {
  for (const [page, foreign] of Object.entries(FOREIGN)) {
    const found = new Set(unknownNamesOn(page).map((name) => name.slice(name.indexOf(".") + 1)));
    assertEquals(foreign.filter((name) => !found.has(name)), [], page);
  }
});

Deno.test("the test of names finds names that don't exist, and accepts names that do", () => {
  const found = (code: string) => unknownNames(code, false, () => false);
  assertEquals(found("config.createQueue(name)"), ["config.createQueue"]);
  assertEquals(found("queue.addLater(item)"), ["queue.addLater"]);
  assertEquals(found("maxTries: 3"), ["maxTries"]);
  assertEquals(found("createQueueOf(document)"), ["createQueueOf"]);
  assertEquals(found("maxTries"), ["maxTries"]);
  for (const code of ["config.queue(name)", "queue.redrive()", "maxRetries: 3", "await pool.stop()", "runWorkers(…)"]) {
    assertEquals(found(code), [], code);
  }
});

/** Returns the flags of each command of `workqueue`, with those of its subcommands. */
async function flagsByCommand(): Promise<Map<string, Set<string>>> {
  const help = async (...command: string[]) => {
    const args = [
      "run",
      "-A",
      "--quiet",
      "--config",
      "deno.all.json",
      "packages/cli/workqueue.ts",
      ...command,
      "--help",
    ];
    return (await run(Deno.execPath(), args, ROOT)).stdout;
  };
  const commandsIn = (text: string) => {
    const [, commands = ""] = text.split("Commands:\n");
    return [...commands.matchAll(/^ {2}([a-z]+)/gm)].map(([, name]) => name!).filter((name) => name !== "help");
  };
  const flagsIn = (text: string) => text.match(/--[a-z][a-z-]*|(?<=[ ,])-\w\b/g) ?? [];
  const flags = new Map<string, Set<string>>();
  for (const command of commandsIn(await help())) {
    const texts = [await help(command)];
    for (const sub of commandsIn(texts[0]!)) texts.push(await help(command, sub));
    flags.set(command, new Set(texts.flatMap(flagsIn)));
  }
  return flags;
}

const flags = await flagsByCommand();
const allFlags = new Set([...flags.values()].flatMap((each) => [...each]));

/** Returns the commands, and the long flags of commands, in a piece of code that don't exist. */
function unknownCommands(code: string): string[] {
  return [...code.matchAll(/(?:^|[\n$;|] ?|npx )workqueue ([a-z]+)\b([^\n|;]*)/g)].flatMap(([, command, rest]) => {
    const known = flags.get(command!);
    if (known === undefined) return command === "help" ? [] : [`workqueue ${command}`];
    const own = rest!.split(" -- ")[0]!.replaceAll(/'[^']*'|"[^"]*"/g, "");
    return (own.match(/(?<= )--[a-z][a-z-]*/g) ?? []).filter((flag) => !known.has(flag))
      .map((flag) => `workqueue ${command} ${flag}`);
  });
}

for (const page of pages) {
  Deno.test(`${page}: it names commands and flags that exist`, () => {
    const markdown = read(page);
    const codes = codesIn(markdown);
    const blocks = tokensOf(markdown).flatMap((token) => token.type === "code" ? [(token as Tokens.Code).text] : []);
    const lone = page === "docs/beside-others.md" ? [] : codes.flatMap((code) => /^--[a-z][a-z-]*/.exec(code) ?? [])
      .filter((flag) => !allFlags.has(flag) && !foreignFlags.has(flag));
    assertEquals([...lone, ...[...codes, ...blocks].flatMap(unknownCommands)], []);
  });
}

Deno.test("the test of commands finds commands that don't exist, and accepts commands that do", () => {
  assertEquals(unknownCommands("workqueue start --queue a"), ["workqueue start"]);
  assertEquals(unknownCommands("workqueue status --watch"), ["workqueue status --watch"]);
  assertEquals(unknownCommands("workqueue run --retries 3 -- curl --silent {}"), []);
  assert(flags.get("dead")!.has("--search"));
});
