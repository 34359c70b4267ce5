import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { forgetPlayer } from '../../../src/store/players/forget.ts';
import { prune } from '../../../src/store/prune/prune.ts';
import { createPrisma } from '../../../src/store/schema/prisma.ts';
import { bookAll } from '../../books/support/kept-books.ts';
import { BY } from '../../support/audit.ts';
import { placedBet, type TestBet } from '../../support/bet.ts';
import { startTestGateway, type TestGateway } from '../../support/gateway.ts';
import { rowsOf } from '../../support/server.ts';
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

it('brings nothing back of a player who is forgotten between the copying of what is kept and the end of its month', async () => {
  const prisma = createPrisma(gateway.databaseUrl);
  onTestFinished(() => prisma.$disconnect());
  const [bet, other] = [await placedBet(gateway), await placedBet(gateway)];
  await query(`SELECT journal_prepare_month('2026-01-10')`);
  await query(`UPDATE attempts SET started_at = '2026-01-15', wallet_body = 'of Ann'`);
  await query(`UPDATE operations SET created_at = '2026-01-15'`);
  await query(`UPDATE bets SET created_at = '2026-01-15'`);
  await bookAll(gateway);

  const lines: string[] = [];
  const held = proxy.holdRequest('DROP TABLE operations');
  const pruned = prune(proxy.through(gateway.databaseUrl), {
    ...{ before: new Date('2026-02-01'), isDryRun: false, log: (line) => void lines.push(line) },
  });
  await held.stopped;
  expect((await bet.settle('20')).status).toBe(200);
  const forgotten = await forgetPlayer(prisma, bet.player.userId, BY);
  expect(forgotten).toMatchObject({ kind: 'forgotten', bets: 1, messages: 2 });
  held.release();
  expect((await pruned).months).toMatchObject([{ result: 'dropped' }]);
  expect(lines).toContain('2026-01: a player was forgotten meanwhile, so it is begun again');

  const told = ({ transactionId }: TestBet) =>
    query(`SELECT convert_from(o.body, 'UTF8') LIKE '%35.168.110.10%' AS has_address,
                  a.wallet_body IS NOT NULL AS has_answer
             FROM operations o JOIN attempts a ON a.operation_id = o.id
            WHERE o.transaction_id = '${transactionId}'`);
  expect(await told(bet)).toEqual([{ has_address: false, has_answer: false }]);
  // The other one still waits for its result.
  expect(await told(other)).toEqual([{ has_address: true, has_answer: true }]);
});
