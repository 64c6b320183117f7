import { declareScript } from "./declare.ts";
import { DECIMAL, DURATION, FLAG, NOTHING, NUMBER, optional, TEXT } from "./fields.ts";

/**
 * Returns Lua that reads what the order needs for the rows, because a call for several keys is fast. `sent` is the
 * number of arguments in a call with one row.
 */
const expectKeys = (eachRow: (lua: string) => string, sent: number) => /* lua */ `
if q.plan and #ARGV > ${sent} then
  local keys = {}
${eachRow("keys[#keys + 1] = key")}
  q.ordered().expect(keys)
end`;

const args = { delayMs: DURATION, replaces: FLAG, folds: FLAG };

/** Lua for a key that is added after a delay, and was given up. A key that is added now is revived by `makeReady`. */
export const reviveDelayed = /* lua */ `
if redis.call('ZSCORE', q.given_up, key) then q.revive(key, redis.call('HGET', q.stalls, key)) end`;

/** Lua that adds the key of a row. */
const addKey = (priority: string) => /* lua */ `
  if delayUs > 0 then
    ${reviveDelayed}
    q.addAfter(key, delayUs, replaces, folds, ${priority})
  else
    q.addNow(key, replaces, folds, ${priority})
  end`;

/** Lua for a key that is added without a traceparent. */
const forgetTrace = /* lua */ `
  if q.hasTraces then q.keepTrace(key) end`;

/** Adds keys, now or after a delay. */
export const add = declareScript({
  adds: true,
  args,
  rows: { key: TEXT },
  reply: NOTHING,
  body: (eachRow) => /* lua */ `
q.isBusy = true
q.makeDueReady()
${expectKeys(eachRow, 4)}
${eachRow(forgetTrace + addKey("0"))}
q.wakeForReady()
`,
});

/** Adds keys with their payloads, now or after a delay. */
export const addItems = declareScript({
  adds: true,
  args,
  rows: { key: TEXT, payload: TEXT },
  reply: NOTHING,
  body: (eachRow) => /* lua */ `
q.isBusy = true
q.makeDueReady()
${expectKeys(eachRow, 5)}
if not hasPayloads then redis.call('HSET', q.meta, 'payloads', 1) end
${eachRow(`redis.call('HSET', q.items, key, payload)${forgetTrace}${addKey("0")}`)}
q.wakeForReady()
`,
});

/** Arguments of scripts whose rows have delays and priorities of their own. */
const eachArgs = { replaces: FLAG, folds: FLAG, hasItems: FLAG };
const eachFields = { key: TEXT, payload: TEXT, delayMs: DURATION, priority: DECIMAL };

/**
 * Returns Lua that sets `added` to the number of different keys of the rows that the queue doesn't know. All keys are
 * looked up together, because a call for each key would take longer than its add.
 */
const countNew = (eachRow: (lua: string) => string) => /* lua */ `
local added = 0
do
  local keys, isListed = {}, {}
  ${
  eachRow(/* lua */ `
  if not isListed[key] then
    isListed[key] = true
    keys[#keys + 1] = key
  end`)
}
  if q.order then q.order.flush() end
  local columns = { redis.call('HMGET', q.holders, unpack(keys)) }
  for _, set in ipairs({ q.ready, q.stalled, q.suspects, q.delayed, q.budget and q.blocked_retries or nil }) do
    columns[#columns + 1] = redis.call('ZMSCORE', set, unpack(keys))
  end
  for i = 1, #keys do
    local isKnown = false
    for _, column in ipairs(columns) do isKnown = isKnown or column[i] end
    if not isKnown then added = added + 1 end
  end
end
`;

/** Returns the body of such a script. `traceKey` is Lua for the traceparent of a key. `sent` is as for `expectKeys`. */
const addEachKey = (traceKey: string, sent: number) => (eachRow: (lua: string) => string) => /* lua */ `
q.isBusy = true
q.makeDueReady()
${expectKeys(eachRow, sent)}
if hasItems and not hasPayloads then redis.call('HSET', q.meta, 'payloads', 1) end
${countNew(eachRow)}
${eachRow(`if hasItems then redis.call('HSET', q.items, key, payload) end${traceKey}${addKey("priority")}`)}
q.wakeForReady()
return q.reply(added)
`;

/** Adds keys with delays and priorities of their own, and with their payloads if the queue has payloads. */
export const addEach = declareScript({
  adds: true,
  args: eachArgs,
  rows: eachFields,
  reply: NUMBER,
  body: addEachKey(forgetTrace, 7),
});

/** Like `addEach`, with the traceparents of the spans that add the keys. */
export const addTraced = declareScript({
  adds: true,
  args: eachArgs,
  rows: { ...eachFields, trace: optional(TEXT) },
  reply: NUMBER,
  body: addEachKey("\n  q.keepTrace(key, trace)", 8),
});
