/**
 * Trial of incomplete extensions: in a copy of the sources, parts are added to the core, and to the plans that engines
 * evaluate, and nothing else is changed. Each engine must not compile until it has code for the new part.
 */

import { assert } from "@std/assert";
import { execFile } from "node:child_process";
import { appendFileSync, cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { runtimes } from "../runtimes.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/** Sources that the engines need. */
const SOURCES = [
  ...["deno.json", "mod.ts", "lib", "registry", "limiters", "disciplines", "throttles", "config"],
  ...["engine", "sqlite", "redis"].map((name) => `packages/${name}`),
];

/** Copy of the sources. */
class Sources implements Disposable {
  readonly folder = mkdtempSync(join(tmpdir(), "workqueue-extensions-"));

  constructor() {
    for (const path of SOURCES) cpSync(join(ROOT, path), join(this.folder, path), { recursive: true });
  }

  /** Adds a part that is like another one, with another name in three spellings. */
  addLike(path: string, newPath: string, names: readonly (readonly [RegExp, string])[]): void {
    let text = readFileSync(join(this.folder, path), "utf8");
    for (const [before, after] of names) text = text.replace(before, after);
    writeFileSync(join(this.folder, newPath), text);
    const [room, file] = newPath.split("/");
    appendFileSync(join(this.folder, room!, "built_ins.ts"), `export * from "./${file}";\n`);
  }

  edit(path: string, before: string, after: string): void {
    const text = readFileSync(join(this.folder, path), "utf8");
    assert(text.includes(before), `${path} has no ${JSON.stringify(before)}`);
    writeFileSync(join(this.folder, path), text.replace(before, after));
  }

  /** Returns the errors of the type check, each with its place. */
  async check(): Promise<string[]> {
    const [deno] = await runtimes["Deno"]!();
    const args = ["check", "--no-lock", "packages/sqlite/mod.ts", "packages/redis/mod.ts"];
    const env = { ...Deno.env.toObject(), NO_COLOR: "1" };
    const output = await new Promise<string>((resolve) => {
      execFile(deno!, args, { cwd: this.folder, env, maxBuffer: 1e8 }, (_, stdout, stderr) => resolve(stdout + stderr));
    });
    return output.split(/^(?=TS\d+ \[ERROR\])/m).filter((text) => text.startsWith("TS"));
  }

  [Symbol.dispose](): void {
    rmSync(this.folder, { recursive: true });
  }
}

/** Errors that the type check must find: a file, and a word in the message. */
const EXPECTED = [
  ["packages/engine/limiter_plan.ts", '"slow-start"'],
  ["packages/engine/limiter_plan.ts", "'calm'"],
  ["packages/sqlite/store/failures.ts", '"slow-start"'],
  ["packages/redis/scripts/limiters.ts", '"slow-start"'],
  ["packages/engine/discipline_plan.ts", "'deadline'"],
  ["packages/sqlite/store/line_order.ts", "'deadline'"],
  ["packages/sqlite/store/orders.ts", "'deadline'"],
  ["packages/redis/scripts/lines.ts", "'deadline'"],
  ["packages/redis/scripts/order.ts", "'deadline'"],
  ["packages/redis/repartition.ts", '"deadline"'],
  ["packages/engine/gate_plan.ts", "'slots'"],
  ["packages/engine/gate_plan.ts", "'places'"],
  ["packages/engine/gate.ts", "return"],
  ["packages/sqlite/store/turn.ts", '"postponed"'],
  ["packages/redis/scripts/turn.ts", "'postponed'"],
  ["packages/sqlite/store/state.ts", "'boredom'"],
  ["packages/redis/scripts/snapshot.ts", "'boredom'"],
  ["packages/engine/options.ts", "'merge'"],
  ["packages/sqlite/store/retry_budget.ts", "'calm'"],
  ["packages/redis/scripts/set_retry_budget.ts", "'calm'"],
] as const;

Deno.test("a part that an engine has no code for does not compile", async () => {
  using sources = new Sources();
  sources.addLike("limiters/fast_slow.ts", "limiters/slow_start.ts", [
    [/fast-slow/g, "slow-start"],
    [/fastSlow/g, "slowStart"],
    [/FastSlow/g, "SlowStart"],
  ]);
  sources.edit(
    "packages/engine/limiter_nodes.ts",
    '  | readonly ["exponential"',
    '  | readonly ["slow-start", Counting]\n  | readonly ["exponential"',
  );
  sources.edit("limiters/steps.ts", "  forgetAfter:", '  calm: { kind: "boolean", description: "" },\n  forgetAfter:');
  sources.addLike("disciplines/priority.ts", "disciplines/deadline.ts", [
    [/"priority"/g, '"deadline"'],
    [/priority(Options|Discipline)/g, "deadline$1"],
    [/PriorityDiscipline/g, "DeadlineDiscipline"],
  ]);
  sources.edit(
    "packages/engine/discipline_plan.ts",
    '  | readonly ["fifo"]',
    '  | readonly ["fifo"]\n  | readonly ["deadline"]',
  );
  sources.addLike("throttles/concurrency.ts", "throttles/slots.ts", [
    [/"concurrency"/g, '"slots"'],
    [/concurrency(Options|Throttle)/g, "slots$1"],
    [/ConcurrencyThrottle/g, "SlotsThrottle"],
  ]);
  sources.edit(
    "packages/engine/throttle_store.ts",
    "PermitsPlan | TokensPlan;",
    'PermitsPlan | TokensPlan | (Omit<TokensPlan, "kind"> & { readonly kind: "places" });',
  );
  sources.edit("packages/engine/engine.ts", '"done" | "succeeded"', '"postponed" | "done" | "succeeded"');
  sources.edit("lib/contracts/handler.ts", 'GiveUpReason = "maxRetries"', 'GiveUpReason = "boredom" | "maxRetries"');
  sources.edit("packages/engine/contract.ts", 'addWhileDelayed?: "keep"', 'addWhileDelayed?: "merge" | "keep"');
  sources.edit("lib/contracts/delaying_queue.ts", "  ratio:", "  calm?: boolean;\n  ratio:");
  const errors = await sources.check();
  const missing = EXPECTED.filter(([path, word]) =>
    !errors.some((error) => error.includes(path) && error.includes(word))
  );
  assert(missing.length === 0, `${missing.join("\n")}\n\nis missing among:\n\n${errors.join("\n")}`);
});
