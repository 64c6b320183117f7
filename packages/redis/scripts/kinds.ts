import type { DelayKind, FinishKind, LineKind, OrderKind } from "@workqueue/engine";
import { GIVEN_UP_FOR } from "./constants.ts";
import type { LuaFile } from "./lua.ts";

const LINES: Readonly<Record<LineKind, true>> = { fifo: true, aging: true, strict: true };
/** Orders of ready keys that the scripts know. */
export const ORDERS: Readonly<Record<OrderKind, true>> = { fifo: true, aging: true, strict: true, fair: true };
const DELAYS: Readonly<Record<DelayKind, true>> = { bucket: true, longest: true, "at-most": true, times: true };
const OUTCOMES: Readonly<Record<FinishKind, true>> = {
  done: true,
  succeeded: true,
  requeueAfter: true,
  handedBack: true,
  retry: true,
  failed: true,
  givenUp: true,
};

/**
 * Kinds for which a file must have Lua. A kind that is missing here is a type error, and a file without the kind is
 * refused.
 */
export const KINDS: Readonly<Partial<Record<LuaFile, readonly string[]>>> = {
  lines: Object.keys(LINES),
  read_kind: Object.keys(LINES),
  order: Object.keys(ORDERS),
  limiters: Object.keys(DELAYS),
  turn: [...Object.keys(OUTCOMES), ...Object.keys(GIVEN_UP_FOR)],
};
