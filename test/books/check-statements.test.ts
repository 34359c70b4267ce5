import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { StatementRounds } from '../../src/books/check-statements.ts';
import { rebuildBooks } from '../../src/books/rebuild.ts';
import { StatementChecks } from '../../src/store/books/statement-checks.ts';
import { Statements } from '../../src/store/books/statements.ts';
import { placedBet } from '../support/bet.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { onServer } from '../support/server.ts';
import { age, closeNext, dayBefore } from './support/closed-days.ts';
import { bookAll, rowsOf } from './support/kept-books.ts';

const [FIRST, SECOND] = [dayBefore(3), dayBefore(2)];

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway({ operators: { alpha: {}, beta: {} } });
  for (const operatorId of ['alpha', 'beta']) {
    for (const days of [3, 2]) {
      await age(await placedBet(gateway, { operatorId, amount: '10' }), days);
    }
  }
  await bookAll(gateway);
  while ((await closeNext(gateway)).length > 0);
});
afterAll(() => gateway.close());

/** As a superuser may, past the triggers. */
async function write(operatorId: string, day: string, change: string): Promise<void> {
  await onServer(gateway.databaseUrl, async (client) => {
    await client.query('SET session_replication_role = replica');
    await client.query(
      `UPDATE books_movements SET amount = amount ${change} WHERE operator_id = $1 AND day = $2`,
      [operatorId, day],
    );
  });
}

interface Ways {
  /** Every look at the clock takes as long. */
  readonly stepMs?: number;
  readonly pages?: Statements['pages'];
  readonly isStopping?: () => boolean;
}

function roundsOf({ stepMs = 0, pages, isStopping = () => false }: Ways = {}) {
  const { database } = gateway.parts;
  const statements = new Statements(database);
  let nowMs = 0;
  const tick = () => {
    nowMs += stepMs;
    return nowMs;
  };
  return new StatementRounds({
    checks: new StatementChecks(database),
    statements: { pages: pages ?? ((...of) => statements.pages(...of)) },
    clock: { nowMs: tick, monotonicMs: tick },
    isStopping,
  });
}

const violations = () =>
  rowsOf(
    gateway,
    'SELECT rule, subject, operator_id, found, expected FROM books_violations ORDER BY rule, id',
  );

describe('the lines of closed days are read again and again (I12)', () => {
  beforeEach(async () => {
    await rowsOf(gateway, 'DELETE FROM books_violations');
  });

  it('and one that was changed past the triggers is a violation, until it is as it was closed', async () => {
    const rounds = roundsOf();
    expect(await rounds.look()).toBe(0);
    expect(await violations()).toEqual([]);
    await write('alpha', SECOND, '- 1');
    expect(await rounds.look()).toBe(1);
    const [found, ...others] = await violations();
    expect(others).toEqual([]);
    expect(found).toMatchObject({
      rule: 'statement',
      subject: `alpha/${SECOND}`,
      operator_id: 'alpha',
    });
    expect(found?.found).toMatch(/^1 movements, sha256 [\da-f]{64}$/);
    expect(found?.expected).toMatch(/^1 movements, sha256 [\da-f]{64}$/);
    expect(found?.found).not.toBe(found?.expected);
    expect(await rounds.look()).toBe(1);
    expect(await violations()).toEqual([found]);
    await rowsOf(
      gateway,
      `INSERT INTO books_violations (rule, subject, operator_id, found, expected)
       SELECT rule, $1, 'alpha', '1', '2' FROM unnest(ARRAY['bet', 'day']) rule`,
      [`alpha/${SECOND}`],
    );
    await write('alpha', SECOND, '+ 1');
    expect(await rounds.look()).toBe(0);
    expect((await violations()).map(({ rule }) => rule)).toEqual(['bet', 'day']);
  });

  it('also by a rebuild, which puts it right', async () => {
    const rounds = roundsOf();
    await write('beta', FIRST, '- 1');
    expect(await rounds.look()).toBe(1);
    await rebuildBooks(gateway.databaseUrl, {
      timeZone: 'UTC',
      fromDay: undefined,
      log: () => undefined,
    });
    expect(await rounds.look()).toBe(0);
    expect(await violations()).toEqual([]);
  });

  it('one after the other where they take long, and then from the first again', async () => {
    const rounds = roundsOf({ stepMs: 1_000 });
    const looks: number[] = [];
    await write('beta', FIRST, '- 1');
    for (let look = 0; look < 14; look += 1) looks.push(await rounds.look());
    await write('beta', FIRST, '+ 1');
    // Two days and a quiet one of each, and a look that finds the end.
    const round = [0, 0, 0, 1, 0, 0, 0];
    expect(looks).toEqual([...round, ...round]);
  });

  it('and what a rebuild mends between two pages is none', async () => {
    const statements = new Statements(gateway.parts.database);
    let isFirst = true;
    const rounds = roundsOf({
      async *pages(operatorId, day) {
        const isMixed = isFirst && operatorId === 'alpha' && day === FIRST;
        for await (const rows of statements.pages(operatorId, day)) {
          if (!isMixed) yield rows;
        }
        if (isMixed) isFirst = false;
      },
    });
    expect(await rounds.look()).toBe(0);
    expect(isFirst).toBe(false);
    expect(await violations()).toEqual([]);
  });

  it('a day that cannot be read does not keep the others from it', async () => {
    const statements = new Statements(gateway.parts.database);
    await write('beta', SECOND, '- 1');
    const rounds = roundsOf({
      async *pages(operatorId, day) {
        if (operatorId === 'alpha' && day === FIRST) throw new Error('a broken page');
        yield* statements.pages(operatorId, day);
      },
    });
    await expect(rounds.look()).rejects.toThrow('a broken page');
    expect(await rounds.look()).toBe(1);
    await write('beta', SECOND, '+ 1');
  });

  it('but not by a process that is ending, which records and forgets nothing', async () => {
    await write('alpha', FIRST, '- 1');
    let isStopping = true;
    const rounds = roundsOf({ isStopping: () => isStopping });
    expect(await rounds.look()).toBe(0);
    expect(await violations()).toEqual([]);
    isStopping = false;
    await rounds.look();
    expect(await rounds.look()).toBe(1);
    isStopping = true;
    expect(await rounds.look()).toBe(0);
    expect(await violations()).toHaveLength(1);
    await write('alpha', FIRST, '+ 1');
  });
});
