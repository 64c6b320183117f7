import { declareScript } from "./declare.ts";
import { fields, list, NUMBER, optional, TEXT } from "./fields.ts";

/**
 * Gives back what an owner holds without knowing, as the reply to a take was lost: some of it in each call. The rows
 * are the tokens that the owner knows.
 */
export const release = declareScript({
  args: {
    owner: TEXT,
    /** "0" in the first call, then that of the reply before. */
    cursor: TEXT,
    /** The last token to give back: nothing in the first call, then that of the reply before. */
    final: optional(NUMBER),
  },
  rows: { token: TEXT },
  reply: fields({
    /** "0" at the end. */
    cursor: TEXT,
    final: NUMBER,
    /** The known tokens that the owner holds. */
    seen: list(TEXT),
  }),
  body: (eachRow) => /* lua */ `
final = final or now
local known = {}
${eachRow("known[token] = true")}
local seen = {}
local page = redis.call('SSCAN', q.held_by .. owner, cursor, 'COUNT', BATCH)
local holders = #page[2] > 0 and redis.call('HMGET', q.holders, unpack(page[2])) or {}
for i, key in ipairs(page[2]) do
  local _, token = split(holders[i])
  if known[token] then
    seen[#seen + 1] = token
  elseif tonumber(token) <= final then
    putBack(key, token, owner)
  end
end
wakeForReady()
cursor = page[1]
`,
});
