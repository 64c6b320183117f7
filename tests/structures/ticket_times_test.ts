import { assertEquals } from "@std/assert";
import { TicketTimes } from "../../lib/structures/ticket_times.ts";
import { randomNumbers } from "../queue_helpers.ts";

Deno.test("thousands of tickets get a time and lose it, in order or not, as in a sorted map", () => {
  const random = randomNumbers(2026);
  for (const inOrder of [1, 0.9, 0]) {
    const times = new TicketTimes();
    const map = new Map<number, number>();
    let next = 1;
    const leftOut: number[] = []; // tickets whose times are set later, out of order
    for (let step = 0; step < 20_000; step++) {
      const growing = Math.floor(step / 2000) % 2 === 0;
      if (random() < (growing ? 0.6 : 0.4)) {
        if (random() >= inOrder) leftOut.push(next++);
        const ticket = leftOut.length > 5 ? leftOut.splice(Math.floor(random() * 5), 1)[0]! : next++;
        const time = random() < 0.01 ? NaN : random(); // a broken clock may return NaN
        times.set(ticket, time);
        map.set(ticket, time);
      } else {
        const tickets = map.size > 0 ? [...map.keys()] : [1];
        const ticket = random() < inOrder ? Math.min(...tickets) : tickets[Math.floor(random() * tickets.length)]!;
        assertEquals(times.take(ticket), map.get(ticket));
        map.delete(ticket);
        assertEquals(times.take(ticket), undefined);
      }
      assertEquals(times.size, map.size);
      if (step % 100 === 0) assertEquals(times.first, map.get(Math.min(...map.keys())));
    }
    const left = [...map].sort(([a], [b]) => a - b);
    assertEquals(times.all(), left.map(([, time]) => time));
    for (const [ticket, time] of left.reverse()) assertEquals(times.take(ticket), time);
    assertEquals(times.take(1), undefined);
    assertEquals(times.all(), []);
  }
});
