import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LinkProxy } from '../../tools/torture/world/link-proxy.ts';
import { placedBet, type TestBet, unplacedBet } from '../support/bet.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';

/** More statements that name its bet than any operation sends. */
const STATEMENTS_MAX = 12;
/** An answer that waited for the end of a lease would take 15 s. */
const ANSWER_MS_MAX = 10_000;
const CONFLICTS = ['conflict', 'deadlock'] as const;

let gateway: TestGateway;
let postgres: LinkProxy;
beforeAll(async () => {
  gateway = await startTestGateway({
    through: async ({ databaseUrl, redisUrl }) => {
      const url = new URL(databaseUrl);
      postgres = new LinkProxy({ host: url.hostname, port: Number(url.port) });
      await postgres.up();
      url.hostname = '127.0.0.1';
      url.port = String(postgres.port);
      return { databaseUrl: url.href, redisUrl };
    },
  });
});
afterAll(async () => {
  await gateway.close();
  await postgres.cut();
});

/** Lets PostgreSQL refuse the nth statement (from 0) that names the bet. @returns whether that has happened */
function refuse(bet: TestBet, how: (typeof CONFLICTS)[number], nth: number): () => boolean {
  let [seen, hit] = [0, false];
  postgres.watch(bet.transactionId, (link) => {
    if (seen === nth) {
      link.suffer(how, 0, () => {
        hit = true;
      });
    }
    seen += 1;
  });
  return () => hit;
}

interface Operation {
  readonly name: string;
  readonly begin: (gateway: TestGateway) => Promise<TestBet>;
  readonly operate: (bet: TestBet) => ReturnType<TestBet['place']>;
}

const OPERATIONS: readonly Operation[] = [
  { name: 'place', begin: unplacedBet, operate: (bet) => bet.place() },
  { name: 'settle', begin: placedBet, operate: (bet) => bet.settle('25') },
  { name: 'rollback', begin: placedBet, operate: (bet) => bet.rollback() },
];

describe.each(CONFLICTS)(
  'a statement that PostgreSQL undoes for another transaction: %s',
  (how) => {
    it.each(OPERATIONS)(
      'costs no $name its answer, its one effect or its bet a lease, whichever it is (I1, I5)',
      async ({ begin, operate }) => {
        let hits = 0;
        for (let nth = 0; nth < STATEMENTS_MAX; nth += 1) {
          const bet = await begin(gateway);
          const isHit = refuse(bet, how, nth);
          const before = bet.arrivals().length;
          const answer = await operate(bet);
          postgres.unwatch(bet.transactionId);
          if (!isHit()) break;
          hits += 1;
          expect([answer.status, answer.ms < ANSWER_MS_MAX], `statement ${nth}`).toEqual([
            200,
            true,
          ]);
          expect(bet.arrivals().length - before, `statement ${nth}`).toBe(1);
          const next = await bet.rollback();
          expect([next.status, next.ms < ANSWER_MS_MAX], `after ${nth}`).toEqual([200, true]);
        }
        expect(hits).toBeGreaterThan(1);
      },
      60_000,
    );
  },
);
