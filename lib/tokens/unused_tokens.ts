import { GIVE_BACK } from "../base/brands.ts";
import type { TokenSource } from "../contracts/token_source.ts";

/**
 * Gives tokens back that were not used, even after the time to use them has come, when `cancel` does nothing.
 *
 * @returns Whether the bucket has them again. That of somebody else's takes none back.
 */
export function giveBackUnused(reservation: ReturnType<TokenSource["reserve"]>): boolean {
  const giveBack = (reservation as { [GIVE_BACK]?: () => void })[GIVE_BACK];
  giveBack?.();
  return giveBack !== undefined;
}
