import { expect, it } from 'vitest';
import { forgetPlayer } from '../../../src/store/players/forget.ts';
import type { Prisma } from '../../../src/store/schema/prisma.ts';
import { BY } from '../../support/audit.ts';
import { turnsDuring } from '../../support/others-turns.ts';
import { partly } from '../../support/partly.ts';

const MESSAGES = 1_000;

it('forgets megabytes of messages in slices, and callbacks have their turn (I7)', async () => {
  const names = Array.from({ length: 500 }, (_, at) => ({ name: `Ann the ${at}.` }));
  const body = Buffer.from(JSON.stringify({ metadata: names }));
  const messages = Array.from({ length: MESSAGES }, (_, id) => ({
    ...{ id: BigInt(id), body, answer_body: null },
  }));
  const answers: unknown[][] = [[{ id: 1n, operator_id: 'alpha' }], messages];
  const pages: unknown[][] = [[], [{ transaction_id: 'bet', created_at: 'now' }], []];
  const transaction = {
    $queryRaw: async () => answers.shift(),
    $queryRawUnsafe: async () => pages.shift(),
    $executeRaw: async () => 0,
  };
  const prisma = partly<Prisma>({
    $transaction: (work: (of: typeof transaction) => Promise<unknown>) => work(transaction),
  });
  let forgotten: unknown;
  const turns = await turnsDuring(async () => {
    forgotten = await forgetPlayer(prisma, 'ann', BY);
  });
  expect(forgotten).toMatchObject({ kind: 'forgotten', bets: 1, messages: MESSAGES });
  expect(turns).toBeGreaterThan(3);
});
