import { moneyOf, moneyText } from '../money.ts';
import type { BetRecord } from '../service/record.ts';
import type { BookedBet } from '../world/ledger.ts';
import type { Wallet } from '../world/wallet.ts';
import type { Finding } from './finding.ts';

/** What a wallet must hold for a bet to agree with the service. */
interface Expected {
  readonly isHeld: boolean;
  readonly paid: bigint;
}

/** Derived only from the answers that the service received. */
function expectedOf(record: BetRecord): Expected {
  const isHeld = record.standing === 'accepted';
  return { isHeld, paid: isHeld ? moneyOf(record.paid) : 0n };
}

/** Whether the service itself does not know: nothing was answered, which is a finding of its own. */
function isUnsure({ unanswered }: BetRecord): boolean {
  return unanswered.length > 0;
}

/** Where a wallet's books differ from what the service believes about one bet. */
export function bookFindings(record: BetRecord, wallet: Wallet): Finding[] {
  if (isUnsure(record)) return [];
  const booked = wallet.ledger.bets.get(record.transactionId);
  const expected = expectedOf(record);
  const bet = record.plan.id;
  const held = heldOf(booked);
  const wanted = expected.isHeld ? moneyOf(record.plan.stake) : 0n;
  const findings: Finding[] = [];
  const differ = (text: string) => findings.push({ kind: 'books', bet, text });
  if (held.stake !== wanted) {
    differ(
      `the service believes the bet ${record.standing}, so that a stake of ${moneyText(wanted)} is held; the wallet holds ${moneyText(held.stake)} (${booked?.state ?? 'no such bet'})`,
    );
  }
  if (held.paid !== expected.paid) {
    differ(
      `the service believes that ${moneyText(expected.paid)} was paid; the wallet has paid ${moneyText(held.paid)}`,
    );
  }
  const coefficients = coefficientsOf(record);
  const isOneOfThem = coefficients.some((coefficient) => coefficient === booked?.coefficient);
  if (expected.isHeld && coefficients.length > 0 && !isOneOfThem) {
    differ(
      `the service believes the coefficient to be ${coefficients.join(' or ')}; the wallet has ${booked?.coefficient}`,
    );
  }
  return findings;
}

/** The coefficients that the bet may have: of updates under way together, nobody knows which came last. */
function coefficientsOf({ plan, sends }: BetRecord): readonly string[] {
  const updates = plan.steps.flatMap(({ id, move }) => {
    const own = sends.filter(({ step, kind }) => step === id && OF_THE_STEP.has(kind));
    const confirmed = own.find(({ isConfirmed }) => isConfirmed);
    if (move.kind !== 'update' || confirmed === undefined) return [];
    const fromMs = Math.min(...own.map(({ atMs }) => atMs));
    return [{ coefficient: move.coefficient, fromMs, toMs: confirmed.endedAtMs }];
  });
  return updates
    .filter(({ toMs }) => updates.every(({ fromMs }) => fromMs <= toMs))
    .map(({ coefficient }) => coefficient);
}

const OF_THE_STEP: ReadonlySet<string> = new Set(['first', 'repeat']);

/** Whether the player's balance is exactly the opening balance plus what the bet moved. */
export function moneyFindings(record: BetRecord, wallet: Wallet, opening: string): Finding[] {
  if (isUnsure(record)) return [];
  const expected = expectedOf(record);
  const stake = expected.isHeld ? moneyOf(record.plan.stake) : 0n;
  const wanted = moneyOf(opening) - stake + expected.paid;
  const balance = wallet.ledger.balance(record.player.user);
  if (balance === wanted) return [];
  const text = `the player has ${moneyText(balance)}; by what the service was told it is ${moneyText(wanted)}`;
  return [{ kind: 'money', bet: record.plan.id, text }];
}

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
