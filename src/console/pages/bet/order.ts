import type { ShownBet, ShownOperation } from './bet.ts';

/** Far more than a callback may take: what is later by its own clock, was there earlier. */
const CALLBACK_MS_MAX = 60_000;

/**
 * What happened to a bet, in order. Clocks of processes differ: nothing stands before what led to it.
 * @param eventsOf of one operation, in the order in which they must have happened
 */
export function inOrder<T extends { readonly at: string }>(
  bet: ShownBet,
  eventsOf: (operation: ShownOperation, number: number) => readonly T[],
): readonly { readonly event: T; readonly ms: number }[] {
  const events = bet.operations.flatMap((operation, index) =>
    sensibleTimes(operation, eventsOf(operation, index + 1)),
  );
  // Events of the same millisecond keep the order above.
  return events.sort((a, b) => a.ms - b.ms);
}

function sensibleTimes<T extends { readonly at: string }>(
  { receivedAt, delivery, attempts }: ShownOperation,
  events: readonly T[],
): { event: T; ms: number }[] {
  const arrived = Date.parse(receivedAt);
  // Never delivered and tried once: all was over when the service had its answer.
  const isBrief = delivery === null && attempts.length <= 1;
  const over = isBrief ? arrived + CALLBACK_MS_MAX : Number.POSITIVE_INFINITY;
  let next = Number.POSITIVE_INFINITY;
  return events
    .map((event) => ({ event, ms: Date.parse(event.at) }))
    .reverse()
    .map(({ event, ms }) => {
      next = Math.min(next, ms < arrived || ms > over ? arrived : ms);
      return { event, ms: next };
    })
    .reverse();
}
