/** Somebody who looks at the page in Chromium, and to whom nothing may go wrong unnoticed. */

import { assertEquals } from "@std/assert";
import axe from "axe-core";
import type { Browser, Locator, Page } from "playwright-core";
import { hasChromium, launchChromium } from "../../chromium.ts";

let browser: Promise<Browser> | undefined;

/** What may be different of a visitor. */
export interface VisitorOptions {
  readonly colorScheme?: "light" | "dark";
  readonly width?: number;
  /** The time of the page is the test's: see `page.clock`. */
  readonly hasHandClock?: boolean;
  /** Which requests that fail, as Chromium words it, are part of the test. */
  readonly failures?: RegExp;
}

/** A test in Chromium, left out where there is none. */
export function browserTest(name: string, fn: () => Promise<void>): void {
  Deno.test({
    name,
    ignore: !hasChromium,
    fn,
    sanitizeOps: false, // the browser stays for the next test
    sanitizeResources: false,
  });
}

Deno.test.afterAll(async () => await (await browser)?.close());

/** Opens the page at an address; whatever it complains of by the time it is closed fails the test. */
export async function visit(url: string, options: VisitorOptions = {}): Promise<Visitor> {
  browser ??= launchChromium();
  const page = await (await browser).newPage({
    viewport: { width: options.width ?? 1280, height: 900 },
    colorScheme: options.colorScheme ?? "light",
    reducedMotion: "reduce",
  });
  const complaints: string[] = [];
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("console", (message) => {
    const isExpected = options.failures?.test(message.text());
    if (["error", "warning"].includes(message.type()) && !isExpected) complaints.push(message.text());
  });
  const { origin } = new URL(url);
  page.on("request", (request) => {
    if (!/^(data|blob):/.test(request.url()) && new URL(request.url()).origin !== origin) {
      complaints.push(request.url());
    }
  });
  if (options.hasHandClock) await page.clock.install();
  await page.goto(url);
  return new Visitor(page, complaints);
}

export class Visitor implements AsyncDisposable {
  readonly page: Page;
  readonly #complaints: readonly string[];

  constructor(page: Page, complaints: readonly string[]) {
    this.page = page;
    this.#complaints = complaints;
  }

  /** The row of a queue in the list. */
  row(name: string): Locator {
    return this.page.getByRole("listitem").filter({ has: this.page.getByRole("link", { name, exact: true }) });
  }

  /** A part of the page, by its heading. */
  section(name: string): Locator {
    return this.page.getByRole("region", { name, exact: true });
  }

  button(name: string | RegExp): Locator {
    return this.page.getByRole("button", typeof name === "string" ? { name, exact: true } : { name });
  }

  /** What was last said of a control. */
  result(): Locator {
    return this.page.getByRole("status");
  }

  /** Waits until there is such a text. */
  async sees(text: string | RegExp, where: Locator | Page = this.page): Promise<void> {
    await where.getByText(text).first().waitFor();
  }

  /** A number beside its name, as `Waiting`. */
  async figure(name: string, where: Locator | Page = this.page): Promise<string> {
    const figure = where.locator(".figures > div").filter({ has: this.page.getByText(name, { exact: true }) });
    return await figure.locator("dd").innerText();
  }

  /** How wide the page is with all that is in it. */
  contentWidth(): Promise<number> {
    return this.page.evaluate("document.documentElement.scrollWidth");
  }

  /** What axe-core finds that is serious. */
  async offences(): Promise<string[]> {
    await this.page.evaluate(axe.source); // evaluated by the protocol, past the policy
    const { violations } = await this.page.evaluate(() => (globalThis as unknown as { axe: typeof axe }).axe.run());
    return violations.filter(({ impact }) => impact === "serious" || impact === "critical")
      .flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => `${id}: ${html}: ${failureSummary}`));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.page.close();
    assertEquals(this.#complaints, []);
  }
}
