import { tryPermits } from "./model/permits.ts";
const t = Date.now();
for (let s = 61; s <= 2500; s++) await tryPermits(s);
console.log("ok", Date.now() - t);
