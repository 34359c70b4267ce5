import { expect, it, onTestFinished } from 'vitest';
import { forgetPlayer } from '../../../src/store/players/forget.ts';
import { createPrisma } from '../../../src/store/schema/prisma.ts';
import { bookAll, bookReadable } from '../../books/support/kept-books.ts';
import { BY } from '../../support/audit.ts';
import { placedBet } from '../../support/bet.ts';
import { startTestGateway } from '../../support/gateway.ts';
import { startTcpProxy } from '../../support/tcp-proxy.ts';

it('a process that freezes while it forgets a player stops neither the books nor that player’s bets (I12)', async () => {
  const gateway = await startTestGateway();
  onTestFinished(() => gateway.close());
  const proxy = await startTcpProxy(gateway.databaseUrl);
  onTestFinished(() => proxy.close());
  const prisma = createPrisma(proxy.through(gateway.databaseUrl));
  onTestFinished(() => prisma.$disconnect());

  const bet = await placedBet(gateway, { amount: '10' });
  await bet.settle('20');
  await bookAll(gateway);
  const held = proxy.holdRequest('player.forgotten');
  const forgotten = forgetPlayer(prisma, bet.player.userId, BY);
  const refused = expect(forgotten).rejects.toMatchObject({ code: 'DATABASE_UNAVAILABLE' });
  await held.stopped;
  const other = await placedBet(gateway, { amount: '10' });
  await other.settle('0', 'lost');

  const booked = async () => (await bookReadable(gateway)) > 0;
  await expect.poll(booked, { timeout: 20_000, interval: 250 }).toBe(true);
  expect((await bet.settle('30')).status).toBe(200);
  held.release();
  await refused;
});
