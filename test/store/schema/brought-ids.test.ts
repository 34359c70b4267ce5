import { readFileSync } from 'node:fs';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readEnvironment } from '../../../src/config/environment/environment.ts';
import { systemClock } from '../../../src/domain/clock.ts';
import { awaitDatabase } from '../../../src/process/start-up.ts';
import { migrate } from '../../../src/store/schema/migrate.ts';
import { bookAll, movementsOfBet } from '../../books/support/kept-books.ts';
import { placedBet, type TestBet } from '../../support/bet.ts';
import { startTestGateway, type TestGateway } from '../../support/gateway.ts';
import { onServer, rowsOf } from '../../support/server.ts';

describe('a journal that was brought without its sequences, as by logical replication (I5, I12)', () => {
  let gateway: TestGateway;
  let before: TestBet;
  const lines: string[] = [];
  let sequences: string[] = [];
  beforeAll(async () => {
    gateway = await startTestGateway();
    before = await placedBet(gateway, { amount: '10' });
    await before.settle('20');
    await bookAll(gateway);
    await onServer(gateway.databaseUrl, async (client) => {
      const { rows } = await client.query(
        `SELECT quote_ident(sequencename) AS name FROM pg_sequences WHERE schemaname = current_schema()`,
      );
      sequences = rows.map(({ name }) => String(name));
      for (const name of sequences) await client.query(`ALTER SEQUENCE ${name} RESTART`);
      // Somebody else's table, which must be left alone.
      await client.query(
        `CREATE TABLE foreign_ones (id BIGSERIAL); INSERT INTO foreign_ones VALUES (7)`,
      );
    });
  });
  afterAll(() => gateway.close());

  const migrated = () => migrate(gateway.databaseUrl, { log: (line) => lines.push(line) });
  const start = () =>
    awaitDatabase(
      readEnvironment({ DATABASE_URL: gateway.databaseUrl, REDIS_URL: 'redis://127.0.0.1:1' }),
      systemClock,
      pino({ level: 'silent' }),
    );

  it('knows every table that has one', () => {
    const source = readFileSync('src/store/schema/brought-ids.ts', 'utf8');
    const known = (sequence: string) => source.includes(`'${sequence.replace('_id_seq', '')}'`);
    expect(sequences.length).toBeGreaterThan(0);
    expect(sequences.filter((sequence) => !known(sequence))).toEqual([]);
  });

  it('starts no gateway, which says what to do', async () => {
    await expect(start()).rejects.toThrow(
      /comes from another server.*run `wagergate migrate` once/,
    );
  });

  it('gives no id a second time once it is migrated', async () => {
    await migrated();
    await start();
    const since = await placedBet(gateway, { amount: '3' });
    await since.settle('4');
    await bookAll(gateway);
    expect(await movementsOfBet(gateway, since.transactionId)).toEqual([
      'stake -3 1',
      'payout 4 -1',
    ]);
    expect(
      await rowsOf(
        gateway.databaseUrl,
        'SELECT id FROM operations GROUP BY id HAVING count(*) > 1',
      ),
    ).toEqual([]);
    expect(lines).toEqual([expect.stringContaining('sequences')]);
    lines.length = 0;
    await migrated();
    expect(lines).toEqual([]);
  });
});
