import type { Bet } from '../../../src/domain/bet.ts';

const OWNER = { operatorId: 'alpha', playerId: '1', userId: 'u', operatorUser: 'ann' };
/** The service's place. */
export const PLACE = { amount: '10', currency: 'USD', userId: 'u' };
/** The bet right after its place's intent was committed. */
export const FRESH: Bet = {
  transactionId: 'bet',
  owner: OWNER,
  sessionId: '1',
  amount: PLACE.amount,
  currency: PLACE.currency,
  generation: 1,
  released: 0,
  releasedTo: 0,
  place: { kind: 'inFlight' },
  settlement: { kind: 'none' },
  rollback: { kind: 'none' },
  update: undefined,
  busy: undefined,
  deliveries: [],
  late: undefined,
  standingOperationId: undefined,
  placeAnsweredUnknown: false,
  version: 1,
};
