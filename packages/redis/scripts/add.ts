import { declareScript } from "./declare.ts";
import { DURATION, FLAG, NOTHING, TEXT } from "./fields.ts";

const args = { delayMs: DURATION, replaces: FLAG, folds: FLAG };

/** Adds keys, now or after a delay. */
export const add = declareScript({
  adds: true,
  args,
  rows: { key: TEXT },
  reply: NOTHING,
  body: (eachRow) => /* lua */ `
makeDueReady()
${eachRow("addAfter(key, delayUs, replaces, folds)")}
wakeForReady()
`,
});

/** Adds keys with their payloads, now or after a delay. */
export const addItems = declareScript({
  adds: true,
  args,
  rows: { key: TEXT, payload: TEXT },
  reply: NOTHING,
  body: (eachRow) => /* lua */ `
makeDueReady()
if not hasPayloads then redis.call('HSET', q.meta, 'payloads', 1) end
${
    eachRow(/* lua */ `
  redis.call('HSET', q.items, key, payload)
  addAfter(key, delayUs, replaces, folds)`)
  }
wakeForReady()
`,
});
