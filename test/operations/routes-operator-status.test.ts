import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { OPERATIONS, type Operation } from '../../src/domain/operation.ts';
import { unreachable } from '../../src/domain/unreachable.ts';
import { balanceBody, profileBody } from '../../src/protocol/callback-bodies.ts';
import type { CallResult } from '../../tools/simulator/signed-client.ts';
import { placedBet, type TestBet, unplacedBet } from '../support/bet.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';

/** How each callback is answered if its operator accepts no calls, or only some. */
let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway({ operators: { alpha: {}, beta: {} } });
});
afterAll(() => gateway.close());

/** Sent and answered as usual; 503/100 and not sent; 400/100 and not sent; 200 with a promise and not sent. */
type Expected = 'sent' | 'retry' | 'declined' | 'promised';

const ALL_HELD: Readonly<Record<Operation, Expected>> = {
  profile: 'retry',
  balance: 'retry',
  place: 'declined',
  settle: 'retry',
  unsettle: 'retry',
  rollback: 'promised',
  update: 'promised',
};
const NOTHING_NEW: Readonly<Record<Operation, Expected>> = {
  profile: 'retry',
  balance: 'retry',
  place: 'declined',
  settle: 'sent',
  unsettle: 'sent',
  rollback: 'sent',
  update: 'sent',
};
const setBreaker = (callClass: 'read' | 'money', to: 'open' | 'auto') => async () =>
  gateway.parts.wallets.setOverride('alpha', callClass, to);
const active = () => gateway.reconfigure('alpha', {});

const STATES: readonly {
  readonly name: string;
  readonly reason: string;
  readonly enter: () => Promise<void>;
  readonly leave: () => Promise<void>;
  readonly expected: Readonly<Record<Operation, Expected>>;
}[] = [
  {
    name: 'in maintenance',
    reason: 'maintenance',
    enter: () => gateway.reconfigure('alpha', { status: 'maintenance' }),
    leave: active,
    expected: ALL_HELD,
  },
  {
    name: 'suspended',
    reason: 'suspended',
    enter: () => gateway.reconfigure('alpha', { status: 'suspended' }),
    leave: active,
    expected: NOTHING_NEW,
  },
  {
    name: 'whose file was removed',
    reason: 'maintenance',
    enter: async () => {
      await rm(join(gateway.configFolder, 'operators', 'alpha.yaml'));
      await gateway.reload();
    },
    leave: active,
    expected: ALL_HELD,
  },
  {
    name: 'whose money breaker is open',
    reason: 'breaker',
    enter: setBreaker('money', 'open'),
    leave: setBreaker('money', 'auto'),
    expected: { ...ALL_HELD, profile: 'sent', balance: 'sent' },
  },
  {
    name: 'whose read breaker is open',
    reason: 'breaker',
    enter: setBreaker('read', 'open'),
    leave: setBreaker('read', 'auto'),
    expected: {
      profile: 'retry',
      balance: 'retry',
      place: 'sent',
      settle: 'sent',
      unsettle: 'sent',
      rollback: 'sent',
      update: 'sent',
    },
  },
];

function send(operation: Operation, bet: TestBet, unplaced: TestBet): Promise<CallResult> {
  switch (operation) {
    case 'profile':
      return gateway.service.call('POST', '/user/profile', profileBody(bet.player.token));
    case 'balance':
      return gateway.service.call('POST', '/user/balance', balanceBody(bet.player));
    case 'place':
      return unplaced.place();
    case 'settle':
      return bet.settle('10');
    case 'unsettle':
      return bet.unsettle();
    case 'rollback':
      return bet.rollback();
    case 'update':
      return bet.update('1.5');
    default:
      return unreachable(operation);
  }
}

describe.each(STATES)('an operator $name', ({ reason, enter, leave, expected }) => {
  afterEach(() => leave());

  it('has each callback answered by its rule, counted, and no other operator feels it (I7)', async () => {
    const rejected = () => gateway.metric('gateway_rejected_total', { operator: 'alpha', reason });
    const bets: [Operation, TestBet, TestBet][] = [];
    for (const operation of OPERATIONS) {
      bets.push([operation, await placedBet(gateway), await unplacedBet(gateway)]);
    }
    const other = await placedBet(gateway, { operatorId: 'beta' });
    await enter();
    for (const [operation, bet, unplaced] of bets) {
      const requestsBefore = bet.wallet.requests.length;
      const rejectedBefore = await rejected();
      const { status, json } = await send(operation, bet, unplaced);
      const requests = bet.wallet.requests.length - requestsBefore;
      const told = [operation, status, json?.code, requests];
      const outcome = expected[operation];
      switch (outcome) {
        case 'sent':
          expect([operation, status, requests]).toEqual([operation, 200, 1]);
          break;
        case 'retry':
          expect(told).toEqual([operation, 503, 100, 0]);
          expect(await rejected()).toBe(rejectedBefore + 1);
          break;
        case 'declined':
          expect(told).toEqual([operation, 400, 100, 0]);
          expect(await rejected()).toBe(rejectedBefore + 1);
          break;
        case 'promised':
          expect([operation, status, requests]).toEqual([operation, 200, 0]);
          expect(await bet.deliveries()).toEqual([{ operation, state: 'pending', attempts: 0 }]);
          break;
        default:
          return unreachable(outcome);
      }
    }
    expect((await other.settle('10')).status).toBe(200);
    expect((await gateway.service.balance(other.player)).status).toBe(200);
  });
});

it('a place that was not sent is final: its twin is answered, its rollback needs no wallet', async () => {
  const bet = await unplacedBet(gateway);
  await gateway.reconfigure('alpha', { status: 'maintenance' });
  const first = await bet.place();
  await active();
  const twin = await bet.place();
  expect([twin.status, twin.body]).toEqual([first.status, first.body]);
  expect((await bet.rollback()).status).toBe(200);
  expect(bet.arrivals()).toEqual([]);
  expect(await bet.deliveries()).toEqual([]);
});
