/** Page tests that can run against any server. */

import { assert, assertEquals } from "@std/assert";
import type { State } from "@workqueue/dashboard";
import { browserTest, visit } from "./visitor.ts";

/** Server with a paused queue, so the content of the page does not change. */
export interface PageServer extends AsyncDisposable {
  /** URL of the page. */
  readonly url: string;
  /** Name of a queue that the visitor may control. */
  readonly queue: string;
}

const CONTROLS = "a[href], button, input, summary, [tabindex='0']";

/** Tests the page of a server. */
export function testPageOf(name: string, start: () => Promise<PageServer>): void {
  browserTest(`${name}: the list shows the same data as api/state`, async () => {
    await using server = await start();
    const state = await (await fetch(`${server.url}api/state`)).json() as State;
    await using visitor = await visit(server.url);
    await visitor.sees("live");
    assertEquals(
      await visitor.page.locator(".card h2").allInnerTexts(),
      state.queues.map((queue) => queue.name),
    );
    for (const queue of state.queues) {
      const row = visitor.row(queue.name);
      assertEquals(await row.locator(".verdict").innerText(), queue.verdict);
      assertEquals(await row.locator(".reason").innerText(), queue.reason);
      assertEquals(await visitor.figure("Delayed", row), queue.counts.delayed.toLocaleString("en"));
      assertEquals(await visitor.figure("Ready", row), queue.counts.ready.toLocaleString("en"));
    }
  });

  browserTest(`${name}: nothing exceeds the width of a screen of 320 pixels`, async () => {
    const { server, addresses } = await viewsOf(start);
    await using _ = server;
    for (const address of addresses) {
      await using visitor = await visit(address, { width: 320 });
      await visitor.page.locator(".figures").first().waitFor();
      assertEquals(await visitor.contentWidth(), 320);
    }
  });

  browserTest(`${name}: the tab key reaches every control, and the focus is visible`, async () => {
    const { server, addresses } = await viewsOf(start);
    await using _ = server;
    for (const address of addresses) {
      await using visitor = await visit(address);
      const { page } = visitor;
      await page.locator(".figures").first().waitFor();
      const count = await page.locator(CONTROLS).filter({ visible: true }).evaluateAll((elements) => {
        elements.forEach((element) => element.setAttribute("data-missed", ""));
        return elements.length;
      });
      assert(count > 2);
      for (let i = 0; i < count + 2; i++) { // the tab order includes the browser's own controls
        await page.keyboard.press("Tab");
        const isShown = await page.evaluate(`
          document.activeElement.removeAttribute("data-missed");
          document.activeElement === document.body || getComputedStyle(document.activeElement).outlineStyle === "solid"
        `);
        assert(isShown, `after ${i + 1} times`);
      }
      assertEquals(await page.locator("[data-missed]").evaluateAll((all) => all.map(({ outerHTML }) => outerHTML)), []);
    }
  });
}

/** Tests with axe-core that the page of a server is accessible. */
export function testAccessibilityOf(name: string, start: () => Promise<PageServer>): void {
  browserTest(`${name}: axe finds nothing serious in list and queue, light and dark`, async () => {
    const { server, addresses } = await viewsOf(start);
    await using _ = server;
    for (const address of addresses) {
      await using visitor = await visit(address);
      await visitor.page.locator(".figures").first().waitFor();
      assertEquals(await visitor.offences(), []);
      for (const details of await visitor.page.locator("summary").all()) await details.click();
      assertEquals(await visitor.offencesInBothSchemes(), []); // with the colors of all that was visible before
    }
  });
}

/** Starts a server. Returns it with the addresses of its list and of its queue. */
async function viewsOf(start: () => Promise<PageServer>) {
  const server = await start();
  return { server, addresses: [server.url, `${server.url}#/queues/${encodeURIComponent(server.queue)}`] };
}
