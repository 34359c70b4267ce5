import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { placedBet } from '../support/bet.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { databaseUrl, onServer, rowsOf } from '../support/server.ts';

/** Puts a copy of the gateway's database where that was, as a restored dump is. @returns puts it back */
async function exchange({ databaseUrl: url }: TestGateway) {
  const name = new URL(url).pathname.slice(1);
  const [copy, original] = ['copy', 'original'].map((what) => `${name}_${what}`);
  const server = databaseUrl(inject('postgresUrl'), 'postgres');
  const end = (database: string) =>
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${database}'`;
  const run = (...statements: string[]) =>
    onServer(server, async (client) => {
      for (const one of statements) await client.query(one);
    });
  const allow = (database: string, isAllowed: boolean) =>
    `ALTER DATABASE ${database} ALLOW_CONNECTIONS ${isAllowed}`;
  const rename = (from: string, to: string) => `ALTER DATABASE ${from} RENAME TO ${to}`;
  await run(
    allow(name, false),
    end(name),
    `CREATE DATABASE ${copy} TEMPLATE ${name}`,
    rename(name, original ?? ''),
    rename(copy ?? '', name),
  );
  return {
    rowsOfCopy: (table: string) => rowsOf(url, `SELECT * FROM ${table}`),
    back: () =>
      run(
        allow(name, false),
        end(name),
        rename(name, `${name}_${randomBytes(2).toString('hex')}`),
        rename(original ?? '', name),
        allow(name, true),
      ),
  };
}

describe('an address that leads to another database while gateways run', () => {
  let gateway: TestGateway;
  beforeEach(async () => {
    gateway = await startTestGateway();
  });
  afterEach(() => gateway.close());

  it('gets no bet and no promise: nothing is sent, nothing is written there (I2, I3)', async () => {
    const bet = await placedBet(gateway, { amount: '10' });
    const { rowsOfCopy, back } = await exchange(gateway);
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
    const { back } = await exchange(gateway);
    await expect(gateway.parts.database.takesWrites()).rejects.toThrow(
      /another database than the one that this process started on.*restart all gateways/s,
    );
    await back();
    expect(await gateway.parts.database.takesWrites()).toBe(true);
  });
});
