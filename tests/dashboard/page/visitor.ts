/** Visitor of the page in Chromium. Any unexpected error on the page fails the test. */

import { assertEquals } from "@std/assert";
import axe from "axe-core";
import type { Browser, Locator, Page } from "playwright-core";
import { hasChromium, launchChromium, openPage } from "../../chromium.ts";

let browser: Promise<Browser> | undefined;

/** Rules of axe-core that depend on colors. */
const RULES_OF_COLORS = ["color-contrast", "link-in-text-block"];

/** Options of axe-core that leave out all results but the violations, because gathering the others takes longest. */
const OPTIONS_OF_AXE: axe.RunOptions = { resultTypes: ["violations"], selectors: false };

/** Options of a visitor. */
export interface VisitorOptions {
  readonly width?: number;
  /** Whether the test controls the time of the page, with `page.clock`. */
  readonly hasHandClock?: boolean;
  /** Pattern of the messages that Chromium is expected to log about failed requests. */
  readonly failures?: RegExp;
}

/** Registers a test that runs in Chromium, and is skipped if Chromium is not installed. */
export function browserTest(name: string, fn: () => Promise<void>): void {
  Deno.test({
    name,
    ignore: !hasChromium,
    fn,
    sanitizeOps: false, // the browser stays open for the next test
    sanitizeResources: false,
  });
}

Deno.test.afterAll(async () => await (await browser)?.close());

/**
 * Opens the page at a URL. Until the page is closed, any error, warning or request to another origin fails the test.
 */
export async function visit(url: string, options: VisitorOptions = {}): Promise<Visitor> {
  browser ??= launchChromium();
  const page = await openPage(await browser, {
    viewport: { width: options.width ?? 1280, height: 900 },
    colorScheme: "light",
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

  /** Returns the row of a queue in the list. */
  row(name: string): Locator {
    return this.page.getByRole("listitem").filter({ has: this.page.getByRole("link", { name, exact: true }) });
  }

  /** Returns the section of the page with the given heading. */
  section(name: string): Locator {
    return this.page.getByRole("region", { name, exact: true });
  }

  button(name: string | RegExp): Locator {
    return this.page.getByRole("button", typeof name === "string" ? { name, exact: true } : { name });
  }

  /** Returns the latest result of a control. */
  result(): Locator {
    return this.page.getByRole("status");
  }

  /** Waits until a text is visible. */
  async sees(text: string | RegExp, where: Locator | Page = this.page): Promise<void> {
    await where.getByText(text).first().waitFor();
  }

  /** Returns the number next to a label, such as `Delayed`. */
  async figure(name: string, where: Locator | Page = this.page): Promise<string> {
    const figure = where.locator(".figures > div").filter({ has: this.page.getByText(name, { exact: true }) });
    return await figure.locator("dd").innerText();
  }

  /** Returns the width of the page with all its content. */
  contentWidth(): Promise<number> {
    return this.page.evaluate("document.documentElement.scrollWidth");
  }

  /**
   * Returns the serious problems that axe-core finds.
   *
   * @param rules The rules that are checked; all if omitted.
   */
  async offences(rules?: readonly string[]): Promise<string[]> {
    const isThere = await this.page.evaluate("'axe' in globalThis");
    if (!isThere) await this.page.evaluate(axe.source); // a debugger sends it, so the page's policy does not apply
    const { violations } = await this.page.evaluate(
      (options) => (globalThis as unknown as { axe: typeof axe }).axe.run(options),
      { ...OPTIONS_OF_AXE, ...rules !== undefined && { runOnly: [...rules] } },
    );
    return violations.filter(({ impact }) => impact === "serious" || impact === "critical")
      .flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => `${id}: ${html}: ${failureSummary}`));
  }

  /** Returns the serious problems that axe-core finds in light colors, and those that only dark colors can have. */
  async offencesInBothSchemes(): Promise<string[]> {
    await this.page.emulateMedia({ colorScheme: "light" });
    const inLight = await this.offences();
    await this.page.emulateMedia({ colorScheme: "dark" });
    return [...inLight, ...(await this.offences(RULES_OF_COLORS)).map((offence) => `dark: ${offence}`)];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.page.close();
    assertEquals(this.#complaints, []);
  }
}
