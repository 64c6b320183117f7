/** Helpers that start demos as a user does: with their tasks on Deno, as scripts on Bun. */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import process from "node:process";
import { text } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../", import.meta.url));
const LOOK_AGAIN = 20;

/** Starts the demo of a package in its own process group, as a shell does. */
export function startDemo(name: "redis" | "sqlite", env: Record<string, string> = {}): ChildProcess {
  const onBun = process.versions["bun"] !== undefined;
  const { WORKQUEUE_REDIS_URL: _, ...own } = process.env;
  return spawn(process.execPath, onBun ? [`packages/${name}/demo/main.ts`] : ["task", `demo:${name}`], {
    cwd: ROOT,
    env: { ...own, NO_COLOR: "1", ...env },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
}

export async function ended(demo: ChildProcess): Promise<{ code: number; stdout: string; stderr: string }> {
  const [stdout, stderr, [code]] = await Promise.all([text(demo.stdout!), text(demo.stderr!), once(demo, "close")]);
  return { code, stdout, stderr };
}

/** Reports whether any of the demo's processes is still running. */
export function isLeft(demo: ChildProcess): boolean {
  try {
    return process.kill(-demo.pid!, 0);
  } catch {
    return false;
  }
}

/** Interrupts a demo once it has printed `text`, and waits until no process is left. Resolves to its exit code. */
export async function interrupt(demo: ChildProcess, text: string): Promise<number> {
  let printed = "";
  const isWorking = new Promise<void>((resolve) => {
    demo.stdout!.on("data", (data) => {
      printed += data;
      if (printed.includes(text)) resolve();
    });
  });
  await isWorking;
  const end = ended(demo);
  process.kill(-demo.pid!, "SIGINT"); // like Ctrl-C
  const { code } = await end;
  while (isLeft(demo)) await delay(LOOK_AGAIN);
  return code;
}
