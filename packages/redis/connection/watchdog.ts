import { clearTimeout, setImmediate, setTimeout } from "node:timers";
import { inWords } from "./errors.ts";
import type { Wire } from "./wire.ts";

/**
 * Ends a wire when the server owes an answer and says nothing for so long, in milliseconds: the server hangs, or its
 * host has vanished, which TCP itself notices after a quarter of an hour. Neither of the clients can do that: what they
 * call a timeout of the socket is put off by everything that is sent.
 */
export function watch<W extends Wire>(wire: W, silence: number): W {
  let owed = 0;
  let heardAt = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;

  function wait(ms: number): void {
    // After a pause of this process, the answers that have come meanwhile are read first.
    timer = setTimeout(() => setImmediate(look), ms);
    timer.unref(); // the wire itself keeps the process
  }

  function look(): void {
    timer = undefined;
    if (owed === 0) return;
    const left = heardAt + silence - performance.now();
    if (left > 0) wait(left);
    else wire.close(new Error(`there was no answer within ${inWords(silence)}`));
  }

  function heard(): void {
    owed--;
    heardAt = performance.now();
  }

  const send = wire.send.bind(wire);
  wire.send = (command) => {
    if (owed++ === 0) heardAt = performance.now();
    if (timer === undefined) wait(silence);
    const reply = send(command);
    reply.then(heard, heard);
    return reply;
  };
  wire.ended.then(() => clearTimeout(timer));
  return wire;
}
