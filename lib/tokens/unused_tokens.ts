import { GIVE_BACK } from "../base/brands.ts";
import type { TokenSource } from "../contracts/token_source.ts";

/**
 * Returns unused tokens to their bucket. Unlike `cancel`, works even after the time from which the tokens may be used.
 *
 * @returns Whether the tokens were returned; `false` for a reservation in a third-party bucket.
 */
export function giveBackUnused(reservation: ReturnType<TokenSource["reserve"]>): boolean {
  const giveBack = (reservation as { [GIVE_BACK]?: () => void })[GIVE_BACK];
  giveBack?.();
  return giveBack !== undefined;
}
