import type { BookedBet } from '../world/ledger.ts';

/** What a wallet holds of a bet and has paid for it; nothing of one that was rolled back. */
export function heldOf(booked: BookedBet | undefined): {
  readonly stake: bigint;
  readonly paid: bigint;
} {
  if (booked === undefined || booked.state === 'rolledBack' || booked.state === 'tombstone') {
    return { stake: 0n, paid: booked?.paid ?? 0n };
  }
  return { stake: booked.stake, paid: booked.paid };
}
