import { ALERT_LAG, type AlertName, HOLDS_FOR } from "./alert_limits.ts";

/** Alert that may still fire although its condition has ended. */
export interface FadingAlert {
  readonly alert: AlertName;
  /** Time since the condition ended, in milliseconds. */
  readonly endedAgoMs: number;
}

/** Times at which the conditions of the alert rules held. */
export class Alarms {
  readonly #held = new Map<AlertName, { since: number; until: number }>();

  /** Records that the conditions of these alerts hold at the time `now`. */
  record(holding: readonly AlertName[], now: number): void {
    for (const alert of holding) {
      const held = this.#held.get(alert);
      if (held !== undefined && now - held.until <= ALERT_LAG) held.until = now;
      else this.#held.set(alert, { since: now, until: now });
    }
  }

  /** Returns the alert that may still fire at the time `now`; `undefined` if there is none. */
  fading(now: number): FadingAlert | undefined {
    for (const [alert, { since, until }] of this.#held) {
      const endedAgoMs = now - until;
      if (endedAgoMs <= ALERT_LAG && until - since >= HOLDS_FOR[alert] - ALERT_LAG) return { alert, endedAgoMs };
    }
    return undefined;
  }
}
