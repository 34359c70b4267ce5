import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { OPERATIONS, type Operation } from '../../src/domain/operation.ts';
import { unreachable } from '../../src/domain/unreachable.ts';
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

describe.each(STATES)('an operator $name', ({ reason, enter, leave, expected }) => {
  let bet: TestBet;
  let unplaced: TestBet;
  let requestsBefore: number;
  beforeEach(async () => {
    bet = await placedBet(gateway);
    unplaced = await unplacedBet(gateway);
    await enter();
    requestsBefore = bet.wallet.requests.length;
  });
  afterEach(() => leave());

  const send = (operation: Operation) => {
    switch (operation) {
      case 'profile':
        return gateway.service.profile(bet.player.token);
      case 'balance':
        return gateway.service.balance(bet.player);
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
  };

  const rows = OPERATIONS.map((operation) => [operation, expected[operation]] as const);
  it.each(rows)('%s: %s', async (operation, outcome) => {
    const answer = await send(operation);
    const requests = bet.wallet.requests.length - requestsBefore;
    switch (outcome) {
      case 'sent':
        expect([answer.status, requests]).toEqual([200, 1]);
        break;
      case 'retry':
        expect([answer.status, answer.json?.code, requests]).toEqual([503, 100, 0]);
        break;
      case 'declined':
        expect([answer.status, answer.json?.code, requests]).toEqual([400, 100, 0]);
        break;
      case 'promised':
        expect([answer.status, requests]).toEqual([200, 0]);
        expect(await bet.deliveries()).toEqual([{ operation, state: 'pending', attempts: 0 }]);
        break;
      default:
        return unreachable(outcome);
    }
  });

  const held = OPERATIONS.filter((operation) => expected[operation] !== 'sent');
  it.each(held)('%s is counted by its reason', async (operation) => {
    const rejected = () => gateway.metric('gateway_rejected_total', { operator: 'alpha', reason });
    const before = await rejected();
    await send(operation);
    if (expected[operation] !== 'promised') expect(await rejected()).toBe(before + 1);
  });

  it('does not affect another operator (I7)', async () => {
    const other = await placedBet(gateway, { operatorId: 'beta' });
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
