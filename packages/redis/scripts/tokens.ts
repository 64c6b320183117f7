import { declareScript } from "./declare.ts";
import { DURATION, fields, NUMBER, optional } from "./fields.ts";
import { limiters } from "./limiters.ts";
import { throttlePrelude } from "./throttle_prelude.ts";

/** Takes tokens from a bucket that queues share. If the call is repeated, tokens are taken again. */
export const tokens = declareScript({
  prelude: throttlePrelude,
  functions: limiters,
  args: {
    /** A negative rate stands for an infinite rate. */
    rate: NUMBER,
    burst: NUMBER,
    /** Number of tokens to take, even more than there are. A negative number of tokens is given back. */
    charged: NUMBER,
    /** Number of tokens to take if there are so many. */
    wanted: NUMBER,
  },
  reply: fields({
    granted: NUMBER,
    /** Time until the next token. Missing if all were granted, or no token will come. */
    waitMs: optional(DURATION),
  }),
  body: /* lua */ `
limiters().tokens_give_back('tokens', rate, burst, -charged)
local granted, waitUs = 0, nil
if wanted > 0 then granted, waitUs = limiters().tokens_take('tokens', rate, burst, wanted) end
`,
});
