import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { placedBet } from '../support/bet.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { exchangeDatabase } from '../support/other-database.ts';

describe('an address that leads to another database while gateways run', () => {
  let gateway: TestGateway;
  beforeEach(async () => {
    gateway = await startTestGateway();
  });
  afterEach(() => gateway.close());

  it('gets no bet and no promise: nothing is sent, nothing is written there (I2, I3)', async () => {
    const bet = await placedBet(gateway, { amount: '10' });
    const { rowsOfCopy, back } = await exchangeDatabase(gateway.databaseUrl);
    const other = await gateway.service.place({ ...bet.player, amount: '5' });
    expect(other.kind).toBe('failed');
    const rollback = await bet.rollback();
    expect(rollback.status).toBe(503);
    expect(bet.arrivals()).toEqual(['place']);
    expect(await rowsOfCopy('operations')).toHaveLength(1);
    expect(await rowsOfCopy('deliveries')).toEqual([]);
    await back();
    expect((await bet.rollback()).status).toBe(200);
    expect(bet.arrivals()).toEqual(['place', 'rollback']);
  });

  it('makes the process not ready, which says why and what to do', async () => {
    const { back } = await exchangeDatabase(gateway.databaseUrl);
    await expect(gateway.parts.database.takesWrites()).rejects.toThrow(
      /another database than the one that this process started on.*restart all gateways/s,
    );
    await back();
    expect(await gateway.parts.database.takesWrites()).toBe(true);
  });
});
