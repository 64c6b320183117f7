/** Number of hash slots of every cluster. */
export const SLOTS = 16384;

const encoder = new TextEncoder();

/** Returns the part of a key that determines its slot: the text in the first braces, or the whole key. */
function hashTagOf(key: string): string {
  const from = key.indexOf("{") + 1;
  const to = from > 0 ? key.indexOf("}", from) : -1;
  return to > from ? key.slice(from, to) : key;
}

/** Returns the hash slot of a key in a cluster: the CRC of its hash tag, modulo the number of slots. */
export function slotOf(key: string): number {
  return crcOf(hashTagOf(key)) & (SLOTS - 1);
}

/** Returns the CRC-16/XMODEM of a text. */
export function crcOf(text: string): number {
  let crc = 0;
  for (const byte of encoder.encode(text)) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; bit++) crc = crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1;
  }
  return crc & 0xffff;
}

/** Returns another key in the slot of a key. No script writes to it. */
export function guardOf(key: string): string {
  return hashTagOf(key) === key ? `{${key}}:guard` : `${key}:guard`;
}
