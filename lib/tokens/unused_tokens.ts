import { GIVE_BACK } from "../base/brands.ts";
import type { TokenSource } from "../contracts/token_source.ts";

/**
 * Returns unused tokens to their bucket. Works even after the tokens may be used, when `cancel` does nothing.
 *
 * @returns Whether the bucket took the tokens back. A third-party bucket does not.
 */
export function giveBackUnused(reservation: ReturnType<TokenSource["reserve"]>): boolean {
  const giveBack = (reservation as { [GIVE_BACK]?: () => void })[GIVE_BACK];
  giveBack?.();
  return giveBack !== undefined;
}
