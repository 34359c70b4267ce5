import type { BookedBet } from '../world/ledger.ts';

/** The stake that a wallet holds for a bet and what it has paid for it; both zero after a rollback. */
export function heldOf(booked: BookedBet | undefined): {
  readonly stake: bigint;
  readonly paid: bigint;
} {
  if (booked === undefined || booked.state === 'rolledBack' || booked.state === 'tombstone') {
    return { stake: 0n, paid: booked?.paid ?? 0n };
  }
  return { stake: booked.stake, paid: booked.paid };
}
