/** The states of a bet's place, as the journal writes them. */
export const PLACES = [
  'unseen',
  'in_flight',
  'accepted',
  'declined',
  'not_sent',
  'unknown',
] as const;

/** The state of a bet in one word, for searches. */
export const BET_STATES = [
  ...PLACES,
  'settled',
  'settlement_unknown',
  'rolling_back',
  'rolled_back',
] as const;

export type BetState = (typeof BET_STATES)[number];

/** The same rule as the database's function `bet_state`, which searches use. */
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
