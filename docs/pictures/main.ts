/**
 * Takes screenshots of the dashboards of running programs, for the docs. Takes all screenshots, or only the screenshots
 * whose paths begin with an argument. Taking all screenshots requires Chromium and takes three minutes.
 *
 *     npx -y deno task pictures [docs/operate/]
 *
 * @module
 */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer } from "node:net";
import process from "node:process";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { type Browser, chromium, type Page } from "playwright-core";
import { smallerPng } from "./smaller_png.ts";

const ROOT = new URL("../../", import.meta.url);

/** Program to run, and page to take a screenshot of. */
interface Subject {
  /** Program to run, with its arguments except the port. */
  readonly program: readonly string[];
  /** Path of the dashboard. */
  readonly path: string;
  /** Seconds between the start of the program and the screenshot. */
  readonly after: number;
  /** CSS selector of the part to show; the whole page by default. */
  readonly part?: string;
  readonly colorScheme?: "light" | "dark";
}

const DEMO = { program: ["packages/dashboard/demo/main.ts"], path: "/", after: 170 };
const service = (trouble: string, after: number): Subject => ({
  program: ["examples/operate/service.ts", trouble],
  path: "/dashboard/",
  after,
  part: ".card",
});

const subjects: Readonly<Record<string, Subject>> = {
  "docs/dashboard/light.png": { ...DEMO, colorScheme: "light" },
  "docs/dashboard/dark.png": { ...DEMO, colorScheme: "dark" },
  "docs/operate/slow.png": service("slow", 25),
  "docs/operate/poison.png": service("poison", 20),
  "docs/operate/flood.png": service("flood", 25),
  "docs/operate/down.png": service("down", 12),
  "docs/operate/gone.png": service("gone", 25),
};

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  server.close();
  return port;
}

function start([script, ...args]: readonly string[], port: number): ChildProcess {
  const file = fileURLToPath(new URL(script!, ROOT));
  const env = { ...process.env, PORT: String(port) };
  const config = fileURLToPath(new URL("deno.all.json", ROOT));
  const options = ["run", "-A", "--config", config, file, ...args];
  return spawn(process.execPath, options, { env, stdio: ["ignore", "ignore", "inherit"] });
}

async function open(browser: Browser, { path, colorScheme = "light" }: Subject, port: number): Promise<Page> {
  const page = await browser.newPage({ colorScheme, viewport: { width: 1240, height: 400 } });
  await page.goto(`http://127.0.0.1:${port}${path}`);
  await page.waitForSelector(".card");
  return page;
}

async function take(browser: Browser, file: string, subject: Subject): Promise<void> {
  const port = await freePort();
  const program = start(subject.program, port);
  try {
    await delay(subject.after * 1000);
    const page = await open(browser, subject, port);
    await delay(2000); // gives the page time for two updates
    const path = fileURLToPath(new URL(file, ROOT));
    const picture = subject.part === undefined
      ? await page.screenshot({ fullPage: true })
      : await page.locator(subject.part).first().screenshot();
    writeFileSync(path, smallerPng(picture));
    console.log(file);
  } finally {
    program.kill("SIGKILL");
  }
}

const [prefix = ""] = process.argv.slice(2);
const executablePath = process.env["CHROMIUM"] ?? "/usr/bin/chromium";
const browser = await chromium.launch({ executablePath, chromiumSandbox: false });
const wanted = Object.entries(subjects).filter(([file]) => file.startsWith(prefix));
await Promise.all(wanted.map(([file, subject]) => take(browser, file, subject)));
await browser.close();
