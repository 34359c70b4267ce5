import type { Gateway } from '../deployment/gateway.ts';
import type { BetRecord, Send } from '../service/record.ts';
import { LEASE_MS } from '../settings.ts';
import type { Arrival, Wallet } from '../world/wallet.ts';
import type { Finding } from './finding.ts';

/** How much later than the gateway a wallet may learn that a call was given up. */
const HANG_UP_MS = 200;
/** A thawed or restarted process first has to read its backlog. */
const RECOVERY_MS = 1_000;

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

/** Calls that a running gateway answered late or not at all. */
export function silenceFindings(
  record: BetRecord,
  gateways: readonly Gateway[],
  wasLagging: (fromMs: number, toMs: number) => boolean,
): Finding[] {
  return record.sends.flatMap((send): Finding[] => {
    const gateway = gateways[send.entrance];
    if (send.failure === undefined || gateway === undefined || wasAway(gateway, send)) return [];
    if (wasLagging(send.atMs, send.endedAtMs)) return [];
    const kind = send.failure === 'timeout' ? 'lateAnswer' : 'droppedCall';
    const ms = Math.round(send.endedAtMs - send.atMs);
    const text = `${send.operation} (${send.kind} of ${send.step}) got no answer (${send.failure}) within ${ms} ms`;
    return [{ kind, bet: record.plan.id, text }];
  });
}

function wasAway(gateway: Gateway, send: Send): boolean {
  return gateway.away.some(
    ({ fromMs, toMs }) => send.atMs < toMs + RECOVERY_MS && send.endedAtMs > fromMs,
  );
}
