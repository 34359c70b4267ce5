/** The states of a bet's place, as the journal writes them. */
export const PLACES = [
  'unseen',
  'in_flight',
  'accepted',
  'declined',
  'not_sent',
  'unknown',
] as const;

/** One word for the state of a bet, by which people search. */
export const BET_STATES = [
  ...PLACES,
  'settled',
  'settlement_unknown',
  'rolling_back',
  'rolled_back',
] as const;

export type BetState = (typeof BET_STATES)[number];

/** The same as the function `bet_state` of the database, by which bets are searched. */
export function betState(bet: {
  readonly place: string;
  readonly settlement: string;
  readonly rollback: string;
}): string {
  if (bet.rollback === 'confirmed') return 'rolled_back';
  if (bet.rollback === 'promised') return 'rolling_back';
  if (bet.settlement === 'settled') return 'settled';
  if (bet.settlement === 'unknown') return 'settlement_unknown';
  return bet.place;
}
