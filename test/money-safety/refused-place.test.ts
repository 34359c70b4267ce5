import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { placeBody, rollbackBody, settleBody } from '../../src/protocol/callback-bodies.ts';
import { forgetPlayer } from '../../src/store/players/forget.ts';
import { createPrisma } from '../../src/store/schema/prisma.ts';
import type { CallResult } from '../../tools/simulator/signed-client.ts';
import { BY } from '../support/audit.ts';
import { expireSession } from '../support/bet.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { PATIENCE } from './support/patience.ts';

let gateway: TestGateway;
let players = 0;
/** The wallet's own token of the session. */
let own: string;
/** The frontend's token, whose session has expired. */
let token: string;
let user: string;
let userId: string;

beforeAll(async () => {
  gateway = await startTestGateway({
    worker: true,
    gateway: { delivery: { originateRollbackAfterMs: 1 } },
    operators: { alpha: { sessions: { mode: 'prefixed' } } },
  });
});
afterAll(() => gateway.close());
beforeEach(async () => {
  players += 1;
  user = `refused-${players}`;
  own = `first-token-${players}`;
  token = `alpha.${own}`;
  const tokens = { [own]: 'USD', [`${own}-new`]: 'USD' };
  gateway.wallet('alpha').addPlayer({ user, balances: { USD: '100' }, tokens });
  userId = (await gateway.service.profile(token)).player?.userId ?? '';
  await expireSession(gateway, token);
});

const slipOf = (by: string) =>
  gateway.service.slip({ token: by, userId, currency: 'USD', amount: '10' });
const post = (body: string) => gateway.service.call('POST', '/payment/bet', body);
const put = (body: string) => gateway.service.call('PUT', '/payment/bet', body);
const told = ({ status, json }: CallResult) => [status, json?.code];
const balance = () => gateway.wallet('alpha').balance(user, 'USD');

describe('rule 19: a refused place stays refused (I5)', { timeout: 60_000 }, () => {
  it('when a profile has renewed its session: the same bytes are answered 4, and not sent', async () => {
    const body = placeBody(slipOf(token));
    expect(told(await post(body))).toEqual([400, 4]);
    expect((await gateway.service.profile(token)).status).toBe(200);
    expect(told(await post(body))).toEqual([400, 4]);
    // Nor are they accepted as an unsettle, although the method is not signed.
    expect(told(await put(body))).toEqual([400, 5]);
    expect(balance()).toBe('100');
    expect((await post(placeBody(slipOf(token)))).status).toBe(200);
  });

  it('with another token it is another question', async () => {
    const slip = slipOf(token);
    expect(told(await post(placeBody(slip)))).toEqual([400, 4]);
    const renewed = `${token}-new`;
    expect((await gateway.service.profile(renewed)).status).toBe(200);
    expect((await post(placeBody({ ...slip, token: renewed }))).status).toBe(200);
    expect(balance()).toBe('90');
  });

  it('and what the gateway rolls back is the place that was sent (I5)', async () => {
    const slip = slipOf(token);
    expect(told(await post(placeBody(slip)))).toEqual([400, 4]);
    expect((await gateway.service.profile(`${token}-new`)).status).toBe(200);
    const wallet = gateway.wallet('alpha');
    const { transactionId } = slip;
    wallet.misbehave('place', { kind: 'reset', effect: 'applied' }, { transactionId, calls: 1 });
    const sent = placeBody({ ...slip, token: `${token}-new`, amount: '20' });
    expect(told(await post(sent))).toEqual([400, 100]);
    await vi.waitFor(() => {
      expect(wallet.arrivals(transactionId, 'rollback')).toMatchObject([{ amount: '20' }]);
    }, PATIENCE);
    expect(balance()).toBe('100');
  });

  it('when its subPartnerId was no good and the file has been put right', async () => {
    await gateway.service.profile(token);
    const slip = slipOf(token);
    const body = placeBody(slip, { subPartnerId: '"north"' });
    await gateway.reconfigure('alpha', { subPartnerId: 'south' });
    expect(told(await post(body))).toEqual([400, 5]);
    await gateway.reconfigure('alpha', { subPartnerId: 'north' });
    expect(told(await post(body))).toEqual([400, 5]);
    expect(balance()).toBe('100');
    const next = placeBody(slipOf(token), { subPartnerId: '"north"' });
    expect((await post(next)).status).toBe(200);
    // With another token it is another question.
    expect((await post(placeBody(slip))).status).toBe(200);
  });

  it('and is no open bet: its player can be forgotten, and what is kept still refuses', async () => {
    const body = placeBody(slipOf(token));
    expect(told(await post(body))).toEqual([400, 4]);
    const cashout = { amount: '5', resultType: 'cashout', token } as const;
    expect(told(await put(settleBody(slipOf(token), cashout)))).toEqual([400, 4]);
    const prisma = createPrisma(gateway.databaseUrl);
    onTestFinished(() => prisma.$disconnect());
    expect(await forgetPlayer(prisma, userId, BY)).toMatchObject({ kind: 'forgotten', bets: 2 });
    expect((await gateway.service.profile(token)).status).toBe(200);
    expect(told(await post(body))).toEqual([400, 4]);
  });

  it('a rollback of it is answered 200 and ends it: the same bytes are refused ever after (I6)', async () => {
    const slip = slipOf(token);
    const body = placeBody(slip);
    expect(told(await post(body))).toEqual([400, 4]);
    expect((await put(rollbackBody(slip, 50))).status).toBe(200);
    expect((await gateway.service.profile(token)).status).toBe(200);
    expect(told(await post(body))).toEqual([400, 8]);
    expect(balance()).toBe('100');
  });
});
