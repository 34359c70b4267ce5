import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { forgetPlayer } from '../../../src/store/players/forget.ts';
import { prune } from '../../../src/store/prune/prune.ts';
import { createPrisma } from '../../../src/store/schema/prisma.ts';
import { bookAll } from '../../books/support/kept-books.ts';
import { BY } from '../../support/audit.ts';
import { placedBet, type TestBet } from '../../support/bet.ts';
import { startTestGateway, type TestGateway } from '../../support/gateway.ts';
import { rowsOf, waitForLock } from '../../support/server.ts';
import { startTcpProxy, type TcpProxy } from '../../support/tcp-proxy.ts';

let gateway: TestGateway;
let proxy: TcpProxy;
beforeAll(async () => {
  gateway = await startTestGateway();
  proxy = await startTcpProxy(gateway.databaseUrl);
});
afterAll(async () => {
  await proxy.close();
  await gateway.close();
});

const query = (text: string) => rowsOf(gateway.databaseUrl, text);

it('brings nothing back of a player who is forgotten while what is kept of its month is copied', async () => {
  const prisma = createPrisma(gateway.databaseUrl);
  onTestFinished(() => prisma.$disconnect());
  const [bet, other] = [await placedBet(gateway), await placedBet(gateway)];
  await query(`SELECT journal_prepare_month('2026-01-10')`);
  await query(`UPDATE attempts SET started_at = '2026-01-15', wallet_body = 'of Ann'`);
  await query(`UPDATE operations SET created_at = '2026-01-15'`);
  await query(`UPDATE bets SET created_at = '2026-01-15'`);
  await bookAll(gateway);

  const held = proxy.holdRequest('DROP TABLE operations');
  const pruned = prune(proxy.through(gateway.databaseUrl), {
    ...{ before: new Date('2026-02-01'), isDryRun: false, log: () => undefined },
  });
  await held.stopped;
  expect((await bet.settle('20')).status).toBe(200);
  const forgetting = forgetPlayer(prisma, bet.player.userId, BY);
  await waitForLock(gateway.databaseUrl);
  held.release();
  expect(await forgetting).toMatchObject({ kind: 'forgotten', bets: 1, messages: 2 });
  expect((await pruned).months).toMatchObject([{ result: 'dropped' }]);

  const told = ({ transactionId }: TestBet) =>
    query(`SELECT convert_from(o.body, 'UTF8') LIKE '%35.168.110.10%' AS has_address,
                  a.wallet_body IS NOT NULL AS has_answer
             FROM operations o JOIN attempts a ON a.operation_id = o.id
            WHERE o.transaction_id = '${transactionId}'`);
  const nothing = { has_address: false, has_answer: false };
  expect(await told(bet)).toEqual([nothing, nothing]);
  // The other one still waits for its result.
  expect(await told(other)).toEqual([{ has_address: true, has_answer: true }]);
});
