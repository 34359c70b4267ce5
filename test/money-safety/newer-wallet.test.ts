import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BY } from '../support/audit.ts';
import { unplacedBet } from '../support/bet.ts';
import type { TestGateway } from '../support/gateway.ts';
import { betState } from '../support/journal.ts';
import { asPerson } from '../support/person.ts';
import type { TcpProxy } from '../support/tcp-proxy.ts';
import { acceptedBet, untilDeliveriesAre } from './support/bets.ts';
import { type HeldGateway, STATEMENTS, startHeldGateway } from './support/held-gateway.ts';
import { PATIENT, QUICK } from './support/patience.ts';

let held: HeldGateway;
let gateway: TestGateway;
let postgres: TcpProxy;
/** A replica that has not yet read that the operators have new wallets. */
let behind: TestGateway;
beforeAll(async () => {
  const operators = {
    alpha: PATIENT,
    beta: PATIENT,
    gamma: PATIENT,
    delta: PATIENT,
    epsilon: PATIENT,
    zeta: PATIENT,
    eta: PATIENT,
  };
  held = await startHeldGateway({
    gateway: QUICK,
    operators,
  });
  ({ gateway, postgres } = held);
  behind = await gateway.replica();
});
afterAll(() => held.close());

const replaceWallet = (operatorId: string) =>
  gateway.reconfigure(operatorId, { wallet: { generation: 2 } });

describe('a replica that still knows the wallet before', { timeout: 60_000 }, () => {
  it('does not ask it to roll back a bet of the new one (I4)', async () => {
    await replaceWallet('alpha');
    const bet = await acceptedBet(gateway, { operatorId: 'alpha' });
    expect((await bet.at(behind).rollback()).status).toBe(200);
    expect(bet.arrivals()).toEqual(['place']);
    await untilDeliveriesAre(bet, [{ state: 'pending', attempts: 0 }]);
  });
});

describe('a bet of the wallet before that was released to the new one', { timeout: 60_000 }, () => {
  it('is not brought to the one before by a replica that still knows that (I4)', async () => {
    const bet = await acceptedBet(gateway, { operatorId: 'delta' });
    const other = await acceptedBet(gateway, { operatorId: 'delta' });
    await replaceWallet('delta');
    await asPerson(gateway, (admin) => admin.release('delta', { upTo: 2, to: 2 }, BY));
    expect((await bet.at(behind).settle('20')).status).toBe(503);
    expect((await other.at(behind).rollback()).status).toBe(200);
    expect([bet.arrivals(), other.arrivals()]).toEqual([['place'], ['place']]);
    await untilDeliveriesAre(other, [{ state: 'pending', attempts: 0 }]);
    expect((await bet.settle('20')).status).toBe(200);
    // A place there would also count as released, and be looked for at the new wallet.
    const late = await unplacedBet(behind, { player: bet.player, operatorId: 'delta' });
    expect((await late.place()).json).toMatchObject({ code: 100 });
    expect(late.arrivals()).toEqual([]);
  });
});

describe('a wallet that came after a release', { timeout: 60_000 }, () => {
  it('is not asked about older bets, however high the number was that was released (I4)', async () => {
    const bet = await acceptedBet(gateway, { operatorId: 'epsilon' });
    await asPerson(gateway, (admin) => admin.release('epsilon', { upTo: 9, to: 1 }, BY));
    await replaceWallet('epsilon');
    expect((await bet.settle('20')).status).toBe(503);
    expect((await bet.rollback()).status).toBe(200);
    await untilDeliveriesAre(bet, [{ state: 'pending', attempts: 0 }]);
    expect(bet.arrivals()).toEqual(['place']);
  });
});

describe('a wallet that is replaced', { timeout: 60_000 }, () => {
  it('is not sent a place that was recorded for the one before (I5)', async () => {
    const bet = await unplacedBet(gateway, { operatorId: 'gamma' });
    const begin = postgres.holdAnswer(STATEMENTS.placeBegin, bet.transactionId);
    const placing = bet.place();
    await begin.answered;
    await replaceWallet('gamma');
    begin.release();
    expect((await placing).json).toMatchObject({ code: 100 });
    expect(bet.arrivals()).toEqual([]);
    expect(await betState(gateway.databaseUrl, bet.transactionId)).toMatchObject({
      place: 'not_sent',
    });
  });
});
