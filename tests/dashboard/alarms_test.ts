/** Alerts that may still fire after their conditions have ended. */

import { assertEquals } from "@std/assert";
import { Alarms } from "../../packages/dashboard/watch/alarms.ts";
import type { AlertName } from "../../packages/dashboard/watch/alert_limits.ts";

const MINUTE = 60_000;

/** Records that a condition holds, every five seconds from one minute to another. */
function hold(alarms: Alarms, alert: AlertName, from: number, to: number): void {
  for (let now = from * MINUTE; now <= to * MINUTE; now += 5000) alarms.record([alert], now);
}

Deno.test("alarms: an alert may fire for two minutes after its condition has ended", () => {
  const alarms = new Alarms();
  hold(alarms, "WorkqueueRetryStorm", 3, 13);
  const fading = { alert: "WorkqueueRetryStorm", endedAgoMs: MINUTE } as const;
  assertEquals(alarms.fading(14 * MINUTE), fading);
  assertEquals(alarms.fading(15 * MINUTE), { ...fading, endedAgoMs: 2 * MINUTE });
  assertEquals(alarms.fading(15 * MINUTE + 1), undefined);
});

Deno.test("alarms: an alert can't have fired if its condition held for a short time", () => {
  const alarms = new Alarms();
  hold(alarms, "WorkqueueRetryStorm", 3, 10.9); // for ten minutes with the delay of Prometheus, it must hold for eight
  assertEquals(alarms.fading(11 * MINUTE), undefined);
});

Deno.test("alarms: a gap longer than the delay of Prometheus ends a condition, and a shorter one doesn't", () => {
  const alarms = new Alarms();
  hold(alarms, "WorkqueueRetryStorm", 0, 6);
  hold(alarms, "WorkqueueRetryStorm", 9, 15);
  assertEquals(alarms.fading(16 * MINUTE), undefined);
  hold(alarms, "WorkqueueRetryStorm", 17, 18);
  assertEquals(alarms.fading(18 * MINUTE)?.alert, "WorkqueueRetryStorm");
});

Deno.test("alarms: each alert has its own time", () => {
  const alarms = new Alarms();
  hold(alarms, "WorkqueueBacklogGrows", 0, 5);
  hold(alarms, "WorkqueueNothingTaken", 0, 5);
  assertEquals(alarms.fading(6 * MINUTE)?.alert, "WorkqueueNothingTaken");
});
