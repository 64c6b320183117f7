/**
 * Test of `docs/getting-started.md`. The test follows the page as a reader would: it saves each program and config,
 * runs the commands, and compares their output with the output on the page.
 */

import { assert, assertEquals } from "@std/assert";
import type { Tokens } from "marked";
import { fileURLToPath } from "node:url";
import { freePort } from "../keeper.ts";
import { Project, ROOT } from "../installs/project.ts";
import { runtimes } from "../runtimes.ts";
import { tokensOf } from "./markdown.ts";
import { outputOf } from "../program.ts";

const PAGE = "docs/getting-started.md";
const START = "npx -y deno run -A main.ts";
const PORT = "8080";
const DEADLINE = 120_000;

/** Paragraphs and code blocks of the page, in order. */
const page = tokensOf(Deno.readTextFileSync(new URL(PAGE, ROOT)))
  .filter((token): token is Tokens.Code | Tokens.Paragraph => token.type === "code" || token.type === "paragraph");

const hasCurl = await outputOf("curl", "--version") !== undefined;
if (!hasCurl) console.log(`There is no curl on the PATH: leaving out the test of ${PAGE}.`);

/** Running program and its output so far. */
class Program {
  printed = "";
  isEnded = false;
  readonly ended: Promise<Deno.CommandStatus>;
  readonly #child: Deno.ChildProcess;

  constructor([file, ...args]: string[], folder: string) {
    this.#child = new Deno.Command(file!, {
      args,
      cwd: folder,
      env: { NO_COLOR: "1" },
      stdin: "null",
      stdout: "piped",
      stderr: "piped",
      signal: AbortSignal.timeout(DEADLINE), // timeout, in case the program never ends
    }).spawn();
    const read = async (stream: ReadableStream<Uint8Array<ArrayBuffer>>) => {
      for await (const text of stream.pipeThrough(new TextDecoderStream())) this.printed += text;
    };
    this.ended = Promise.all([this.#child.status, read(this.#child.stdout), read(this.#child.stderr)])
      .then(([status]) => status).finally(() => this.isEnded = true);
  }

  /** Sends SIGINT, like Ctrl-C. */
  interrupt(): void {
    this.#child.kill("SIGINT");
  }

  /** Waits until the program has printed exactly this text, or has ended. */
  async shows(text: string): Promise<void> {
    while (!this.isEnded && this.printed.trimEnd() !== text) await new Promise((resolve) => setTimeout(resolve, 20));
    assertEquals(this.printed.trimEnd(), text);
  }
}

/** Programs of the page, in order. */
const programs = page.filter((token) => token.type === "code" && token.lang?.startsWith("ts")).map(({ text }) => text);

/** Follows the page in a folder where the core is installed and `command` runs `main.ts`. */
async function follow(folder: string, command: string[]): Promise<void> {
  const port = `${await freePort()}`;
  const shown: string[] = [];
  let program: Program | undefined;
  let isInterrupted = false;

  const end = async () => {
    const status = await program?.ended;
    assert(status === undefined || status.success || isInterrupted, program?.printed);
  };
  const start = () => {
    program = new Program(command, folder);
    isInterrupted = false;
    return program;
  };

  for (const [i, token] of page.entries()) {
    const text = token.text.replaceAll(PORT, port);
    if (token.type === "paragraph") {
      if (program?.isEnded === false && text.includes("Ctrl-C")) {
        program.interrupt();
        isInterrupted = true;
      }
      continue;
    }
    const [, file] = /`(\w+\.json)`[^`]*$/.exec(page[i - 1]!.text) ?? [];
    switch (token.lang) {
      case "ts":
      case "ts ignore":
        await end();
        program = undefined;
        Deno.writeTextFileSync(`${folder}/main.ts`, text);
        break;
      case "json":
        Deno.writeTextFileSync(`${folder}/${file}`, text);
        break;
      case "sh":
        if (text === START) start();
        else shown.push(await shell(text, folder));
        break;
      case "text": {
        const before = page[i - 1] as Tokens.Code | Tokens.Paragraph;
        const isOfCommand = before.type === "code" && before.lang === "sh" && before.text !== START;
        if (isOfCommand) assertEquals(shown.at(-1), text);
        else await (program ?? start()).shows(text);
        break;
      }
      default:
        throw new Error(`${PAGE} has a block that this test doesn't know: ${token.lang}`);
    }
  }
  isInterrupted = false; // the last program ends without Ctrl-C
  await end();
}

/** Runs a script that must succeed. Returns its output. */
async function shell(script: string, cwd: string): Promise<string> {
  const signal = AbortSignal.timeout(DEADLINE);
  const { success, stdout, stderr } = await new Deno.Command("sh", { args: ["-ec", script], cwd, signal }).output();
  assert(success, new TextDecoder().decode(stderr));
  return new TextDecoder().decode(stdout).trimEnd();
}

const ignore = Deno.build.os === "windows" || !hasCurl; // Windows has no SIGINT

Deno.test({
  name: `${PAGE}: on Deno, each program compiles, and each command prints the output shown`,
  ignore,
  fn: async () => {
    using project = new Project();
    const imports = { "@workqueue/core": fileURLToPath(new URL("mod.ts", ROOT)) };
    Deno.writeTextFileSync(project.path("deno.json"), JSON.stringify({ imports }));
    const files = programs.map((_, i) => `program${i}.ts`);
    for (const [i, program] of programs.entries()) Deno.writeTextFileSync(project.path(files[i]!), program);
    await project.run(Deno.execPath(), ["check", ...files]); // all at once, because each check takes long
    assert(files.length > 3);
    await follow(project.folder, [Deno.execPath(), "run", "--quiet", "-A", "main.ts"]);
  },
});

Deno.test({
  name: `${PAGE}: on Bun, each command prints the output shown`,
  ignore,
  fn: async () => {
    using project = new Project();
    await project.pack(".");
    const [bun] = await runtimes["Bun"]!();
    await project.run(bun!, ["add", "./workqueue-core.tgz"]);
    await follow(project.folder, [bun!, "main.ts"]);
  },
});
