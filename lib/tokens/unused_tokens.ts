import { GIVE_BACK } from "../base/brands.ts";
import type { TokenSource } from "../contracts/token_source.ts";

/**
 * Puts unused tokens back in their bucket. Unlike `cancel`, works even after the reservation's delay has passed.
 *
 * @returns Whether the tokens were put back; `false` for a reservation in a third-party bucket.
 */
export function giveBackUnused(reservation: ReturnType<TokenSource["reserve"]>): boolean {
  const giveBack = (reservation as { [GIVE_BACK]?: () => void })[GIVE_BACK];
  giveBack?.();
  return giveBack !== undefined;
}
