/** Tests of connections that several hash slots share, with a server that the test plays. */

import { assertEquals, assertRejects } from "@std/assert";
import { Ending } from "../../packages/redis/connection/ending.ts";
import { NodeConnection } from "../../packages/redis/connection/shared_wire.ts";
import type { OnMessage } from "../../packages/redis/connection/wire.ts";

/** Connection to a server that answers only when the test says so. */
class Played {
  readonly ending = new Ending();
  readonly ended = this.ending.reason;
  readonly silence = 1000;
  readonly isReady = true;
  readonly log: string[] = [];
  readonly replies: ((reply: unknown) => void)[] = [];

  constructor(readonly onMessage: OnMessage, readonly onMoved: (channel: string) => void) {}

  send([command]: readonly string[]): Promise<unknown> {
    this.log.push(command!);
    return new Promise((resolve) => this.replies.push(resolve));
  }

  subscribe(channels: readonly string[]): Promise<void> {
    this.log.push(`subscribe ${channels}`);
    return Promise.resolve();
  }

  unsubscribe(channel: string): Promise<void> {
    this.log.push(`unsubscribe ${channel}`);
    return Promise.resolve();
  }

  close(reason: Error): void {
    this.log.push("close");
    this.ending.end(reason);
  }
}

function play(): { node: NodeConnection; opened: Played[] } {
  const opened: Played[] = [];
  const node = new NodeConnection((_signal, onMessage, onMoved) => {
    opened.push(new Played(onMessage, onMoved));
    return Promise.resolve(opened.at(-1)!);
  });
  return { node, opened };
}

/** Lets promises settle. */
const settled = () => new Promise((resolve) => setTimeout(resolve));

Deno.test("shared wire: slots share a connection, and the last slot to leave closes it", async () => {
  const { node, opened } = play();
  const [one, other] = await Promise.all([node.join(), node.join()]);
  const call = one.send(["ONE"]);
  opened[0]!.replies[0]!("reply");
  assertEquals(await call, "reply");
  one.close(new Error("done"));
  assertEquals([(await one.ended).message, one.isReady, other.isReady], ["done", false, true]);
  await settled();
  assertEquals([opened.length, opened[0]!.log, node.isUsed], [1, ["ONE"], true]);
  other.close(new Error("done"));
  await settled();
  assertEquals([opened[0]!.log, node.isUsed], [["ONE", "close"], false]);
  await node.join();
  assertEquals(opened.length, 2);
});

Deno.test("shared wire: closing a slot whose call is unanswered ends the connection for all", async () => {
  const { node, opened } = play();
  const [one, other] = await Promise.all([node.join(), node.join()]);
  one.send(["HANGS"]);
  one.close(new Error("no answer"));
  assertEquals((await other.ended).message, "no answer");
  assertEquals(opened[0]!.log, ["HANGS", "close"]);
  const next = await node.join();
  assertEquals([opened.length, next.isReady], [2, true]);
  other.close(new Error("late")); // has ended already
  await settled();
  assertEquals(opened[1]!.log, []);
});

Deno.test("shared wire: a broken connection ends all wires, and the next join opens a new one", async () => {
  const { node, opened } = play();
  const [one, other] = await Promise.all([node.join(), node.join()]);
  opened[0]!.ending.end(new Error("broken"));
  assertEquals([(await one.ended).message, (await other.ended).message], ["broken", "broken"]);
  await node.join();
  assertEquals(opened.length, 2);
});

Deno.test("shared wire: after a connection failed to open, the next join tries again", async () => {
  let fails = true;
  const node = new NodeConnection((_signal, onMessage, onMoved) =>
    fails ? Promise.reject(new Error("refused")) : Promise.resolve(new Played(onMessage, onMoved))
  );
  for (const joining of [node.join(), node.join()]) await assertRejects(() => joining, Error, "refused");
  fails = false;
  assertEquals((await node.join()).isReady, true);
});

Deno.test("shared wire: each slot gets the messages on its channels, and ends when one of the channels has moved", async () => {
  const { node, opened } = play();
  const heard: string[] = [];
  const [one, other] = await Promise.all(
    ["one", "other"].map((name) => node.join((channel, payload) => heard.push(`${name} ${channel} ${payload}`))),
  );
  await one!.subscribe(["a", "b"]);
  await other!.subscribe(["c"]);
  const [server] = opened;
  for (const channel of ["a", "c", "unknown"]) server!.onMessage(channel, "1");
  server!.onMoved("b");
  assertEquals((await one!.ended).message, "the slot was moved");
  server!.onMessage("a", "2");
  assertEquals(heard, ["one a 1", "other c 1"]);
  await settled();
  assertEquals(server!.log, ["subscribe a,b", "subscribe c", "unsubscribe a", "unsubscribe b"]);
  assertEquals(other!.isReady, true);
});

Deno.test("shared wire: scripts that one slot has sent are known to the other slots until the connection ends", async () => {
  const { node, opened } = play();
  const [one, other] = await Promise.all([node.join(), node.join()]);
  assertEquals(one.known === other.known, true);
  opened[0]!.ending.end(new Error("broken"));
  await settled();
  assertEquals((await node.join()).known === one.known, false);
});
