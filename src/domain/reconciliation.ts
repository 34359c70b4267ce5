import { canonicalAmount, compareAmounts, sameAmount } from './amount.ts';

/** How two lists of bets may differ (docs/reference.md, Books). */
export const DIFFERENCE_KINDS = [
  'missing_there',
  'missing_here',
  'amount_differs',
  'state_differs',
  'currency_differs',
  'duplicate_there',
  'unreadable',
] as const;

export type DifferenceKind = (typeof DIFFERENCE_KINDS)[number];

/** Columns of a list; only the first is required. */
export const LIST_COLUMNS = ['transactionId', 'currency', 'stake', 'payout', 'state'] as const;

export type ListColumn = (typeof LIST_COLUMNS)[number];

/** The state of a bet in a list. */
export const LISTED_STATES = ['placed', 'settled', 'rolled_back'] as const;

/** One list's entry for a bet; null: not given. Amounts are decimal text, not negative. */
export interface ListedBet {
  readonly currency: string | null;
  readonly stake: string | null;
  /** The result that the player holds; 0 while there is none. */
  readonly payout: string | null;
  /** One of `LISTED_STATES`; in the journal also the state of a place that no wallet has accepted. */
  readonly state: string | null;
}

/** A promised delivery that no wallet has confirmed yet. */
export interface OpenPromise {
  readonly operation: 'settle' | 'unsettle' | 'rollback';
  readonly amount: string | undefined;
  readonly isDead: boolean;
  readonly promisedAt: Date;
}

/** A bet of the journal, with the members that lists have. */
export interface JournalBet {
  readonly currency: string | undefined;
  readonly amount: string | undefined;
  readonly place: string;
  readonly placeCode: number | undefined;
  /** The wallet has accepted it, and the service was answered 100. */
  readonly placeAnsweredUnknown: boolean;
  readonly settlement: string;
  readonly settlementAmount: string | undefined;
  readonly settlementTime: string | undefined;
  readonly rollback: string;
  readonly rollbackTime: string | undefined;
  readonly busyOperation: string | undefined;
  /** The kind of an operation without an answer that may take effect late. */
  readonly lateKind: string | undefined;
  readonly lateAmount: string | undefined;
  readonly promise: OpenPromise | undefined;
  readonly isFreebet: boolean;
  /** The reason given by the person who resolved its last operation by hand. */
  readonly resolvedBy: string | undefined;
  readonly placedAt: Date;
}

/** What the books keep of a bet that is pruned from the journal. */
export interface PrunedBet {
  readonly stake: string;
  readonly payout: string;
  readonly isRolledBack: boolean;
}

/** So that nobody takes it for a bet that never came through the gateway. */
export function prunedReason({ stake, payout, isRolledBack }: PrunedBet): string {
  const held = `a stake of ${canonicalAmount(stake)} and a result of ${canonicalAmount(payout)}`;
  return `pruned here: the books have ${isRolledBack ? 'its rollback' : held}`;
}

/** States of a place that the wallet does not hold, or of which nobody knows. */
const HOLDS_NOTHING = ['declined', 'not_sent', 'unseen', 'in_flight', 'unknown'];

/** The gateway's entry for a bet: a promise counts as done. */
export function listedHere(bet: JournalBet): ListedBet {
  const currency = bet.currency ?? null;
  const stake = bet.amount === undefined ? null : canonicalAmount(bet.amount);
  const said = (state: string, payout: string | null) => ({ currency, stake, payout, state });
  if (bet.rollback !== 'none' || bet.promise?.operation === 'rollback') {
    return said('rolled_back', '0');
  }
  if (bet.promise?.operation === 'unsettle') return said('placed', '0');
  const settled = bet.promise?.amount ?? settledAmount(bet);
  if (settled !== undefined) return said('settled', canonicalAmount(settled));
  if (bet.settlement === 'unknown') return said('settlement_unknown', null);
  const isPlaced = bet.place === 'accepted' || bet.settlement === 'unsettled';
  return said(isPlaced ? 'placed' : bet.place, '0');
}

function settledAmount({ settlement, settlementAmount }: JournalBet): string | undefined {
  return settlement === 'settled' ? (settlementAmount ?? '0') : undefined;
}

/** The gravest difference over a bet in both lists. @returns undefined if they agree in all that theirs gives */
export function differenceBetween(
  here: ListedBet,
  there: ListedBet,
): 'amount_differs' | 'state_differs' | 'currency_differs' | undefined {
  if (here.currency !== null && there.currency !== null) {
    if (here.currency.toUpperCase() !== there.currency.toUpperCase()) return 'currency_differs';
  }
  if (here.state === 'rolled_back') return differenceOfRolledBack(here, there);
  if (HOLDS_NOTHING.includes(here.state ?? '')) return differenceOfNothing(there);
  if (there.state !== null && there.state !== here.state) return 'state_differs';
  // An unknown result cannot be compared, and must not count as agreement.
  if (here.payout === null && there.payout !== null) return 'state_differs';
  const isSame = same(here.stake, there.stake) && same(here.payout, there.payout);
  return isSame ? undefined : 'amount_differs';
}

/**
 * A bet that is undone moved nothing, however a list writes it: stake and payout of 10 and 0, 0 and 0, or 10 and 10. In
 * a list without states, 10 and 0 is a stake that was never returned.
 */
function differenceOfRolledBack(here: ListedBet, { state, stake, payout }: ListedBet) {
  if (state !== null && state !== 'rolled_back') return 'state_differs';
  if (stake !== null && isZero(stake)) return isZero(payout) ? undefined : 'amount_differs';
  if (!same(here.stake, stake)) return 'amount_differs';
  if (same(stake ?? here.stake, payout)) return undefined;
  const isSaid = state !== null || stake === null;
  return isSaid && isZero(payout) ? undefined : 'amount_differs';
}

/** The gateway knows of no money in it: a list agrees if it shows none either. */
function differenceOfNothing({ state, stake, payout }: ListedBet) {
  if (state === 'rolled_back' && (isZero(payout) || same(stake, payout))) return undefined;
  const isNothing = state === null && stake !== null && isZero(stake) && isZero(payout);
  return isNothing ? undefined : 'state_differs';
}

function same(one: string | null, other: string | null): boolean {
  return one === null || other === null || sameAmount(one, other);
}

function isZero(amount: string | null): boolean {
  return amount === null || compareAmounts(amount, '0') === 0;
}

/** The days of a comparison, as instants. */
export interface ListedDays {
  readonly startsAt: Date;
  /** Exclusive. */
  readonly endsAt: Date;
}

/** Tolerance for other clocks, and for other definitions of a bet's time. */
const BORDER_MS = 10 * 60_000;

/** Whether a list of these days must have the bet: a wallet has accepted it on one of them. */
export function isExpectedThere({ place, placedAt }: JournalBet, days: ListedDays): boolean {
  return place === 'accepted' && placedAt >= days.startsAt && placedAt < days.endsAt;
}

/** Why the lists differ over a bet, as far as the gateway knows; undefined if it does not. */
export function differenceReason(
  kind: DifferenceKind,
  bet: JournalBet,
  days: ListedDays,
): string | undefined {
  const reasons = [
    openReason(bet),
    bet.resolvedBy === undefined ? undefined : `settled by hand: ${bet.resolvedBy}`,
    placeReason(bet),
    lateReason(bet),
    kind === 'missing_there' ? borderReason(bet.placedAt, days) : outsideReason(bet, days),
    bet.isFreebet && kind === 'amount_differs'
      ? 'a freebet: its stake is nobody’s money'
      : undefined,
    confirmedReason(kind, bet),
  ];
  const known = reasons.filter((reason) => reason !== undefined);
  return known.length === 0 ? undefined : known.join('; ');
}

function openReason({ promise, rollback, settlement, busyOperation, resolvedBy }: JournalBet) {
  if (promise !== undefined) {
    const promised = `${promise.operation} promised at ${promise.promisedAt.toISOString()}`;
    return promise.isDead
      ? `${promised}, a dead letter: agrees when it is retried and delivered, or put right by hand and resolved`
      : `${promised}, not delivered yet: agrees when delivered`;
  }
  if (busyOperation !== undefined) return `its ${busyOperation} is on its way: compare again`;
  if (rollback === 'promised') {
    // A person has closed it: nothing is delivered any more, and the wallet's list stays as it is.
    if (resolvedBy !== undefined) return undefined;
    return 'rollback promised, not delivered yet: agrees when delivered';
  }
  if (settlement !== 'unknown' || rollback !== 'none') return undefined;
  return 'the outcome of its result is unknown: agrees when the service has repeated it';
}

function placeReason({ place, placeCode, placeAnsweredUnknown, rollback }: JournalBet) {
  if (place === 'declined') return `its place was declined with code ${placeCode ?? 'unknown'}`;
  if (place === 'not_sent') return 'its place was never sent to the wallet';
  if (place === 'unseen') return 'its place did not come this way, only what came later';
  const isOpen = rollback === 'none';
  if (place === 'unknown' && isOpen)
    return 'the outcome of its place is unknown: it is rolled back';
  if (placeAnsweredUnknown && isOpen) {
    return 'the service was told that its place is unknown: it is rolled back';
  }
  return undefined;
}

function lateReason({ lateKind, lateAmount }: JournalBet): string | undefined {
  if (lateKind === undefined) return undefined;
  const what = lateKind === 'several' ? 'several operations' : `a ${lateKind}`;
  const amount = lateAmount === undefined ? '' : ` of ${lateAmount}`;
  return `${what}${amount} without an answer may have landed late: what stands is sent once more`;
}

function borderReason(placedAt: Date, { startsAt, endsAt }: ListedDays): string | undefined {
  const fromStartMs = placedAt.getTime() - startsAt.getTime();
  const toEndMs = endsAt.getTime() - placedAt.getTime();
  if (Math.min(fromStartMs, toEndMs) > BORDER_MS) return undefined;
  const beside = fromStartMs <= toEndMs ? 'before' : 'after';
  return `placed at ${placedAt.toISOString()}: may stand in their list of the day ${beside}`;
}

function outsideReason({ placedAt }: JournalBet, { startsAt, endsAt }: ListedDays) {
  if (placedAt >= startsAt && placedAt < endsAt) return undefined;
  return `placed here at ${placedAt.toISOString()}, outside of these days`;
}

function confirmedReason(kind: DifferenceKind, bet: JournalBet): string | undefined {
  if (kind !== 'state_differs' && kind !== 'amount_differs' && kind !== 'missing_there') {
    return undefined;
  }
  if (bet.promise !== undefined) return undefined;
  if (bet.rollback === 'confirmed' && bet.rollbackTime !== undefined) {
    return `the wallet confirmed its rollback (${bet.rollbackTime})`;
  }
  if (bet.settlement === 'settled' && bet.settlementTime !== undefined) {
    return `the wallet confirmed its result (${bet.settlementTime})`;
  }
  return undefined;
}
