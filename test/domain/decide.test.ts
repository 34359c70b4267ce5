import { describe, expect, it } from 'vitest';
import type { Bet, OpenDelivery } from '../../src/domain/bet.ts';
import {
  calledOffInFlight,
  decidePlace,
  decideRollback,
  decideSettle,
  decideUnsettle,
  decideUpdate,
} from '../../src/domain/decide.ts';
import { FRESH } from './support/fresh-bet.ts';

const AT = '2021-03-05T11:08:00.000Z';
const LATER = '2021-03-05T11:09:00.000Z';
const OWNER = { operatorId: 'alpha', playerId: '1', userId: 'u-1', operatorUser: 'ann' };
const PLACED = { kind: 'accepted', transactionTime: AT } as const;
const SETTLED = { kind: 'settled', amount: '25', resultType: 'won', transactionTime: AT } as const;
const UNSETTLED = { kind: 'unsettled', transactionTime: LATER } as const;
const IN_DOUBT = { kind: 'unknown', attempted: { kind: 'several' } } as const;
const PROMISED = { kind: 'promised', transactionTime: AT } as const;
const ROLLED_BACK = { kind: 'confirmed', transactionTime: AT } as const;
const DECLINED = { kind: 'declined', code: 7, message: 'Not enough money' } as const;
const UPDATED = { key: '1.2', transactionTime: AT };

const bet = (changes: Partial<Bet> = {}): Bet => ({
  ...FRESH,
  owner: OWNER,
  amount: '12.10',
  place: PLACED,
  ...changes,
});

const busy = (operation: NonNullable<Bet['busy']>['operation']) =>
  ({ operation, attemptId: 'a', lapsed: false }) as const;

function queued(
  id: string,
  operation: OpenDelivery['operation'],
  attempts = 0,
  settle?: NonNullable<OpenDelivery['settle']>,
): OpenDelivery {
  const result = settle === undefined ? {} : { settle };
  return { id, operationId: id, operation, attempts, transactionTime: LATER, ...result };
}
const settling = (id: string, attempts = 0, amount = '25') =>
  queued(id, 'settle', attempts, { amount, resultType: 'won' });

const SEND = { kind: 'send' };
const send = (...supersedes: string[]) => ({ kind: 'send', supersedes });
const takeOver = (...supersedes: string[]) => ({ kind: 'takeOver', supersedes });
const nothingToSend = (...supersedes: string[]) => ({ kind: 'nothingToSend', supersedes });
const repeat = (transactionTime: string) => ({ kind: 'repeat', transactionTime });
const refused = (code: number, message: string) => ({ kind: 'repeatRefusal', code, message });
const conflict = { kind: 'conflict', why: expect.any(String) };
const wait = { kind: 'wait' };
const systemError = refused(100, 'System error');

/** What is known about the bet, and the decision about an operation. */
type Row = readonly [situation: string, known: Partial<Bet>, decision: object];

describe('a place of a known transactionId', () => {
  const same = { amount: '12.1', currency: 'USD', userId: 'u-1' };

  it.each<Row>([
    ['joins the twin that is in flight (I5)', { place: { kind: 'inFlight' } }, wait],
    ['repeats an acceptance', {}, repeat(AT)],
    ['repeats an acceptance after a settle', { settlement: SETTLED }, repeat(AT)],
    ['repeats a decline with its code', { place: DECLINED }, refused(7, 'Not enough money')],
    ['repeats that it was not sent', { place: { kind: 'notSent' } }, systemError],
    ['repeats 100, never sends an unknown again (I5)', { place: { kind: 'unknown' } }, systemError],
    ['is refused after a promised rollback (I6)', { rollback: PROMISED }, { kind: 'fenced' }],
    ['is refused after a rollback (I6)', { rollback: ROLLED_BACK }, { kind: 'fenced' }],
    [
      'is refused after the rollback of a bet never seen (I6)',
      { place: { kind: 'unseen' }, rollback: ROLLED_BACK, amount: undefined, currency: undefined },
      { kind: 'fenced' },
    ],
    [
      'is refused after the rollback of a player never seen (I6)',
      { place: { kind: 'unseen' }, rollback: ROLLED_BACK, owner: undefined, amount: undefined },
      { kind: 'fenced' },
    ],
    [
      'is sent where only another operation of its bet was seen',
      { place: { kind: 'unseen' }, amount: undefined, currency: undefined },
      SEND,
    ],
    [
      'waits for that other operation (I6)',
      { place: { kind: 'unseen' }, amount: undefined, busy: busy('update') },
      wait,
    ],
  ])('%s', (_, known, decision) => {
    expect(decidePlace(bet(known), same)).toEqual(decision);
  });

  it.each([
    ['amount', { ...same, amount: '12.11' }],
    ['amount, beyond what a double can tell', { ...same, amount: '12.100000000000000000001' }],
    ['currency', { ...same, currency: 'EUR' }],
    ['player', { ...same, userId: 'u-2' }],
  ])('contradicts with another %s, whatever came of the first (I10)', (_, place) => {
    const states: Partial<Bet>[] = [
      {},
      { place: { kind: 'inFlight' } },
      { place: DECLINED },
      { place: { kind: 'unknown' } },
      { rollback: ROLLED_BACK },
    ];
    for (const known of states) expect(decidePlace(bet(known), place)).toEqual(conflict);
  });

  it('says what contradicts', () => {
    const why = (other: Partial<typeof same>) => decidePlace(bet(), { ...same, ...other });
    const differs = (what: string) => ({
      kind: 'conflict',
      why: `the bet is known with another ${what}`,
    });
    expect(why({ amount: '1' })).toEqual(differs('amount'));
    expect(why({ currency: 'EUR' })).toEqual(differs('currency'));
    expect(why({ userId: 'u-2' })).toEqual(differs('player'));
  });

  it('repeats 100 where the service was told that, whatever came of it later (I3)', () => {
    for (const place of [PLACED, DECLINED]) {
      expect(decidePlace(bet({ place, placeAnsweredUnknown: true }), same)).toEqual(systemError);
    }
  });
});

describe('a settle', () => {
  it.each<Row>([
    ['is sent', {}, SEND],
    [
      'is sent for a bet of which only another operation was seen',
      { place: { kind: 'unseen' } },
      SEND,
    ],
    ['is answered when the bet is settled so', { settlement: SETTLED }, repeat(AT)],
    ['is sent with another amount', { settlement: { ...SETTLED, amount: '24' } }, SEND],
    ['is sent with another type', { settlement: { ...SETTLED, resultType: 'refund' } }, SEND],
    ['is sent again after an unsettle', { settlement: UNSETTLED }, SEND],
    ['is sent, not answered, while the state is unknown (I5)', { settlement: IN_DOUBT }, SEND],
    ['contradicts a promised rollback', { rollback: PROMISED }, conflict],
    ['contradicts a rollback', { rollback: ROLLED_BACK, settlement: SETTLED }, conflict],
    ['contradicts a decline', { place: DECLINED }, conflict],
    ['contradicts a place never sent', { place: { kind: 'notSent' } }, conflict],
    [
      'neither pays nor refuses an unknown place',
      { place: { kind: 'unknown' } },
      { kind: 'unresolved' },
    ],
    ['waits for the place (I6)', { place: { kind: 'inFlight' }, busy: busy('place') }, wait],
    ['waits for its twin (I5)', { busy: busy('settle') }, wait],
    ['waits even for an update (I6)', { busy: busy('update') }, wait],
    ['is answered by its promised twin', { deliveries: [settling('1')] }, repeat(LATER)],
    ['is answered by its attempted twin', { deliveries: [settling('1', 2)] }, repeat(LATER)],
    ['replaces one not yet attempted', { deliveries: [settling('1', 0, '7')] }, takeOver('1')],
    ['queues behind an attempted one (I6)', { deliveries: [settling('1', 1, '7')] }, takeOver()],
    [
      'queues behind what itself waits for an attempted one (I6)',
      { deliveries: [settling('1', 1), queued('2', 'unsettle')] },
      takeOver(),
    ],
    ['overtakes a queued update (I6)', { deliveries: [queued('1', 'update', 3)] }, SEND],
    [
      'only calls an unsettle off that no wallet has seen, where the wallet holds this very result',
      { settlement: SETTLED, deliveries: [queued('1', 'unsettle')] },
      nothingToSend('1'),
    ],
    [
      'takes the place of an unsettle that no wallet has seen, where the wallet holds another result',
      { settlement: { ...SETTLED, amount: '24' }, deliveries: [queued('1', 'unsettle')] },
      takeOver('1'),
    ],
  ])('%s', (_, known, decision) => {
    expect(decideSettle(bet(known), { amount: '25.00', resultType: 'won' })).toEqual(decision);
  });
});

describe('an unsettle', () => {
  it.each<Row>([
    ['is sent for a settled bet', { settlement: SETTLED }, SEND],
    ['is sent for a bet never settled', {}, SEND],
    ['is answered when the bet is unsettled', { settlement: UNSETTLED }, repeat(LATER)],
    ['is sent, not answered, while the state is unknown (I5)', { settlement: IN_DOUBT }, SEND],
    ['contradicts a rollback', { rollback: ROLLED_BACK }, conflict],
    ['contradicts a decline', { place: DECLINED }, conflict],
    ['leaves an unknown place open', { place: { kind: 'unknown' } }, { kind: 'unresolved' }],
    ['waits for a settle (I6)', { busy: busy('settle') }, wait],
    ['cancels a settle not yet attempted', { deliveries: [settling('1')] }, nothingToSend('1')],
    [
      'cancels it and undoes what a wallet may hold from before',
      { settlement: SETTLED, deliveries: [settling('1', 0, '7')] },
      takeOver('1'),
    ],
    ['queues behind an attempted one (I6)', { deliveries: [settling('1', 1)] }, takeOver()],
    [
      'is answered by its promised twin',
      { deliveries: [settling('1', 1), queued('2', 'unsettle')] },
      repeat(LATER),
    ],
  ])('%s', (_, known, decision) => {
    expect(decideUnsettle(bet(known), {})).toEqual(decision);
  });
});

describe('a rollback', () => {
  const confirmedBy8 = { ...ROLLED_BACK, refusal: { code: 8, message: 'Done before' } };
  const mixed = [settling('1'), queued('2', 'update', 4), queued('3', 'update')];

  it.each<Row>([
    ['is sent for an accepted bet', {}, send()],
    ['is sent for a settled bet', { settlement: SETTLED }, send()],
    [
      'is sent for an unknown place: it may have been debited (I5)',
      { place: { kind: 'unknown' } },
      send(),
    ],
    ['is sent for a bet of which no place was seen', { place: { kind: 'unseen' } }, send()],
    ['needs no wallet after a decline', { place: DECLINED }, nothingToSend()],
    ['needs no wallet for a place never sent', { place: { kind: 'notSent' } }, nothingToSend()],
    [
      'waits for the place in flight (I6)',
      { place: { kind: 'inFlight' }, busy: busy('place') },
      wait,
    ],
    ['waits for a settle in flight (I6)', { busy: busy('settle') }, wait],
    ['joins its twin in flight (I5)', { rollback: PROMISED, busy: busy('rollback') }, wait],
    ['is answered while its promise waits', { rollback: PROMISED }, repeat(AT)],
    ['is answered once confirmed', { rollback: ROLLED_BACK }, repeat(AT)],
    [
      'is answered as the wallet did, by code 8',
      { rollback: confirmedBy8 },
      refused(8, 'Done before'),
    ],
    ['takes the meaning of what waits unattempted', { deliveries: mixed }, send('1', '2', '3')],
    [
      'queues behind what was attempted, and ends all updates (I6)',
      { deliveries: [settling('1', 1), queued('2', 'update', 1), queued('3', 'unsettle')] },
      takeOver('2', '3'),
    ],
  ])('%s', (_, known, decision) => {
    expect(decideRollback(bet(known))).toEqual(decision);
  });
});

describe('a rollback that can wait no longer', () => {
  it('calls off money that no wallet has seen, and leaves the rest in its order (I6)', () => {
    const deliveries = [queued('1', 'settle', 1), queued('2', 'update'), queued('3', 'unsettle')];
    expect(calledOffInFlight(bet({ busy: busy('update'), deliveries }))).toEqual(['3']);
  });
});

describe('an update', () => {
  it.each<Row>([
    ['is sent', {}, send()],
    ['is sent after a settle', { settlement: SETTLED }, send()],
    [
      'is sent with other coefficients, and the last ones stay in force if it is refused',
      { update: { ...UPDATED, key: '1.3' } },
      { ...send(), inForce: { ...UPDATED, key: '1.3' } },
    ],
    ['is answered when it is the last one again', { update: UPDATED }, repeat(AT)],
    ['needs no wallet after a rollback (I6)', { rollback: ROLLED_BACK }, nothingToSend()],
    ['needs no wallet after a promised rollback (I6)', { rollback: PROMISED }, nothingToSend()],
    ['needs no wallet after a decline', { place: DECLINED }, nothingToSend()],
    ['needs no wallet for a place never sent', { place: { kind: 'notSent' } }, nothingToSend()],
    [
      'is answered as before when it comes again after a rollback',
      { rollback: ROLLED_BACK, update: UPDATED },
      repeat(AT),
    ],
    ['waits for what is in flight (I6)', { busy: busy('rollback'), place: PLACED }, wait],
    ['takes the place of older updates', { deliveries: [queued('1', 'update', 5)] }, send('1')],
    [
      'leaves queued money alone',
      { deliveries: [settling('1'), queued('2', 'update')] },
      send('2'),
    ],
  ])('%s', (_, known, decision) => {
    expect(decideUpdate(bet(known), '1.2')).toEqual(decision);
  });
});
