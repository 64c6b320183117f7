import { declareScript } from "./declare.ts";
import { DECIMAL, DURATION, FLAG, NOTHING, TEXT } from "./fields.ts";

const args = { delayMs: DURATION, replaces: FLAG, folds: FLAG };

/** Adds keys, now or after a delay. */
export const add = declareScript({
  adds: true,
  args,
  rows: { key: TEXT },
  reply: NOTHING,
  body: (eachRow) => /* lua */ `
makeDueReady()
${eachRow("addAfter(key, delayUs, replaces, folds, 0)")}
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
  addAfter(key, delayUs, replaces, folds, 0)`)
  }
wakeForReady()
`,
});

/** Adds keys with delays and priorities of their own, and with their payloads if the queue has payloads. */
export const addEach = declareScript({
  adds: true,
  args: { replaces: FLAG, folds: FLAG, hasItems: FLAG },
  rows: { key: TEXT, payload: TEXT, delayMs: DURATION, priority: DECIMAL },
  reply: NOTHING,
  body: (eachRow) => /* lua */ `
makeDueReady()
if hasItems and not hasPayloads then redis.call('HSET', q.meta, 'payloads', 1) end
${
    eachRow(/* lua */ `
  if hasItems then redis.call('HSET', q.items, key, payload) end
  addAfter(key, delayUs, replaces, folds, priority)`)
  }
wakeForReady()
`,
});
