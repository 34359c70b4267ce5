import { afterAll, beforeAll, expect, it } from 'vitest';
import { placeBody, rollbackBody } from '../../src/protocol/callback-bodies.ts';
import { compareBooks } from '../../tools/simulator/books.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';

let gateway: TestGateway;
let replica: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway({ worker: true });
  replica = await gateway.replica();
});
afterAll(() => gateway.close());

it('a place and its rollback at once are decided by who comes first, on any replica (I6)', async () => {
  const { service } = gateway;
  const wallet = gateway.wallet('alpha');
  const players = await Promise.all(Array.from({ length: 24 }, () => gateway.player()));
  await Promise.all(
    players.map(async (player, index) => {
      const slip = service.slip({ ...player, amount: '100' });
      const { transactionId } = slip;
      const elsewhere = [
        () => replica.service.call('POST', '/payment/bet', placeBody(slip)),
        () => replica.service.call('PUT', '/payment/bet', rollbackBody(slip, 50)),
      ];
      const place = () => service.place({ ...player, amount: '100', transactionId });
      const rollback = () => service.rollback(transactionId);
      const here = index % 2 === 0 ? [place, rollback] : [rollback, place];
      await Promise.all([...here, ...elsewhere].map((send) => send()));
      expect(wallet.arrivals(transactionId, 'place').length).toBeLessThanOrEqual(1);
    }),
  );
  await service.idle();
  // A rollback that was taken over is delivered a little later.
  const differences = () => compareBooks(service.books(), [wallet.books()]).differences;
  await expect.poll(differences, { timeout: 15_000 }).toEqual([]);
  for (const { user } of players) expect(wallet.balance(user, 'USD')).toBe('1000');
});
