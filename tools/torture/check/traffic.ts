import type { BetRecord } from '../service/record.ts';
import { LEASE_MS } from '../settings.ts';
import type { Arrival, Wallet } from '../world/wallet.ts';
import type { Finding } from './finding.ts';

/** How much later than the gateway a wallet may learn that a call was given up. */
const HANG_UP_MS = 200;

/** What is wrong with the calls that a bet's wallet received. */
export function arrivalFindings(record: BetRecord, wallet: Wallet): Finding[] {
  const arrivals = wallet.arrivals(record.transactionId);
  const bet = record.plan.id;
  const findings: Finding[] = [];
  const places = arrivals.filter(({ call }) => call.operation === 'place').length;
  if (places > 1) {
    findings.push({ kind: 'placedTwice', bet, text: `the place was sent ${places} times` });
  }
  const money = arrivals.filter(({ call }) => call.operation !== 'update');
  for (const [index, later] of money.entries()) {
    const open = money.slice(0, index).find((earlier) => overlaps(earlier, later));
    if (open === undefined) continue;
    const text = `${later.call.operation} came while ${open.call.operation} was still at the wallet`;
    findings.push({ kind: 'overlap', bet, text });
  }
  return findings;
}

function overlaps(earlier: Arrival, later: Arrival): boolean {
  const endedAtMs = earlier.endedAtMs ?? Number.POSITIVE_INFINITY;
  // The owner was frozen for longer than its lease: another process had to take over.
  if (later.atMs - earlier.atMs >= LEASE_MS) return false;
  return endedAtMs > later.atMs + HANG_UP_MS;
}
