/**
 * Tests of the commands in docs/operate.md and its parts. The commands run against the service and must print the
 * output that the pages show.
 */

import { assert } from "@std/assert";
import type { Tokens } from "marked";
import { freePort } from "../keeper.ts";
import manifest from "../../deno.json" with { type: "json" };
import { partsOf } from "../../docs/site/repository.ts";
import { testAtOnce } from "../at_once.ts";
import { runtimes } from "../runtimes.ts";
import { tokensOf } from "./markdown.ts";

const ROOT = new URL("../../", import.meta.url);
const START = /^npx -y deno task operate (\w+) (\S+)/;
const SERVICE = manifest.tasks.operate.split(" ").at(-1)!;
const DEADLINE = 30_000;

/** Commands on a page, and the lines that these commands or the service must then print. */
interface Step {
  readonly commands: readonly string[];
  readonly expected: readonly string[];
}

/** Returns the steps in each section, by the section's heading. */
function sectionsOf(page: string): Map<string, Step[]> {
  const sections = new Map<string, Step[]>();
  let steps: Step[] = [];
  for (const token of tokensOf(page)) {
    if (token.type === "heading") sections.set((token as Tokens.Heading).text, steps = []);
    if (token.type !== "code") continue;
    const { lang, text } = token as Tokens.Code;
    const lines = text.split("\n");
    if (lang === "sh") steps.push({ commands: lines, expected: [] });
    const step = lang === "text" ? steps.pop() : undefined;
    if (step !== undefined) steps.push({ ...step, expected: lines });
  }
  return new Map(
    [...sections].filter(([, steps]) => steps.some(({ commands }) => commands.some((c) => START.test(c)))),
  );
}

/** Returns a line without the parts that differ from run to run: numbers, units of time, and the tenant in a key. */
function shapeOf(line: string): string {
  return line.replace(/(acme|globex|initech)(?=\/)/g, "TENANT")
    .replace(/\d[\d.,]*/g, "#").replace(/# (ms|s|min)\b/g, "# TIME").trim();
}

/** Returns `count` different free ports. */
async function freePorts(count: number): Promise<number[]> {
  const ports = new Set<number>();
  while (ports.size < count) ports.add(await freePort());
  return [...ports];
}

/** Terminal in a folder that contains the service's config. It also runs the service. */
class Terminal implements AsyncDisposable {
  readonly #folder = Deno.makeTempDirSync({ prefix: "workqueue_" });
  readonly #port: number;
  #service: Deno.ChildProcess | undefined;
  #printed = "";
  #hasEnded: Promise<void> = Promise.resolve();

  constructor(port: number) {
    this.#port = port;
    Deno.mkdirSync(`${this.#folder}/examples/operate`, { recursive: true });
    const config = "examples/operate/service.json";
    Deno.copyFileSync(new URL(config, ROOT), `${this.#folder}/${config}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    try {
      this.#service?.kill("SIGKILL");
    } catch { // The service has already ended.
    }
    await this.#hasEnded;
    await Deno.remove(this.#folder, { recursive: true });
  }

  /** Runs a step's commands, and then repeats the last `curl` command until all expected lines have been printed. */
  async carryOut({ commands, expected }: Step): Promise<void> {
    const wanted = new Set(expected.map(shapeOf));
    const seen = new Set<string>();
    let last = "";
    for (const command of commands) last = await this.#run(command) ?? last;
    const repeatable = commands.filter((command) => command.includes("curl")).at(-1);
    for (const end = Date.now() + DEADLINE; !wanted.isSubsetOf(seen) && Date.now() < end;) {
      for (const line of `${last}\n${this.#printed}`.split("\n")) seen.add(shapeOf(line));
      await new Promise((resolve) => setTimeout(resolve, 100));
      if (repeatable !== undefined) last = await this.#run(repeatable) ?? last;
    }
    const missing = [...wanted.difference(seen)];
    assert(missing.length === 0, `not printed: ${missing.join("\n")}\nbut: ${last}\n${this.#printed}`);
  }

  async #run(line: string): Promise<string | undefined> {
    const start = START.exec(line);
    if (start !== null) return await this.#start(start.slice(1));
    const command = line.replace(/^sleep \d+( && )?/, ""); // no sleep is needed, because the last request is repeated
    const args = ["-c", command.replaceAll("9464", String(this.#port))];
    const env = { PID: String(this.#service?.pid) };
    const before = this.#reloads();
    const { stdout } = await new Deno.Command("bash", { args, env, cwd: this.#folder, stderr: "null" }).output();
    if (command.startsWith("sed")) await this.#until(() => this.#reloads() > before);
    return new TextDecoder().decode(stdout);
  }

  async #start(args: string[]): Promise<undefined> {
    const [file, ...options] = await runtimes["Deno"]!();
    const env = { PORT: String(this.#port), NO_COLOR: "1" };
    this.#service = new Deno.Command(file!, {
      args: [...options, new URL(SERVICE, ROOT).pathname, ...args],
      cwd: this.#folder,
      env,
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    const read = async (stream: ReadableStream<Uint8Array>) => {
      for await (const text of stream.pipeThrough(new TextDecoderStream())) this.#printed += text;
    };
    const { stdout, stderr } = this.#service;
    this.#hasEnded = Promise.all([read(stdout), read(stderr)]).then(() => {});
    await this.#until(() => this.#printed.includes("is ready"));
  }

  #reloads(): number {
    return this.#printed.split(" → ").length;
  }

  async #until(isSo: () => boolean): Promise<void> {
    for (const end = Date.now() + DEADLINE; !isSo();) {
      assert(Date.now() < end, this.#printed);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}

const sections = ["docs/operate.md", ...partsOf("docs/operate.md")].flatMap((page) =>
  [...sectionsOf(Deno.readTextFileSync(new URL(page, ROOT)))].map(([heading, steps]) => ({ page, heading, steps }))
);
const ports = await freePorts(sections.length);
testAtOnce(
  sections.map(({ page, heading, steps }, index) => ({
    name: `${page}, ${heading}: its commands print what it shows`,
    async fn() {
      await using terminal = new Terminal(ports[index]!);
      for (const step of steps) await terminal.carryOut(step);
    },
  })),
  Deno.build.os === "windows",
);
