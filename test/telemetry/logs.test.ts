import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { errorFacts } from '../../src/telemetry/logger.ts';
import { createService, type SimulatedService } from '../../tools/simulator/service.ts';
import { type Deployment, openDeployment, type Replica } from '../process/support/deployment.ts';
import { SERVICE_SECRET } from '../support/gateway.ts';
import type { Line } from '../support/processes.ts';
import { type HostileWallet, PERSONAL, startHostileWallet } from './support/hostile-wallet.ts';

const ADMIN_TOKEN = 'the-admin-token-that-nobody-may-read';

describe('the log', { timeout: 90_000 }, () => {
  let deployment: Deployment;
  let hostile: HostileWallet;
  beforeAll(async () => {
    hostile = await startHostileWallet('player-2');
    deployment = await openDeployment({
      gateway: { delivery: { minBackoffMs: 50, maxBackoffMs: 200 } },
      operators: { alpha: {}, hostile: { wallet: { baseUrl: hostile.baseUrl } } },
    });
  });
  afterAll(async () => {
    await deployment.close();
    await hostile.close();
  });

  const serviceAt = ({ baseUrl }: Replica): SimulatedService =>
    createService({ baseUrl, secret: SERVICE_SECRET, retryScale: 0 });

  it('tells at its loudest no secret, no token and nothing personal (I8)', async () => {
    const replica = await deployment.replica({ LOG_LEVEL: 'trace', ADMIN_TOKEN });
    const service = serviceAt(replica);
    const player = await deployment.player(replica.baseUrl);
    const victim = await deployment.player(replica.baseUrl, { operatorId: 'hostile' });
    const forbidden = [
      ...[player.token, victim.token, player.userId, victim.userId, player.user, victim.user],
      ...[
        'operator-token-',
        'alpha-wallet-secret',
        'hostile-wallet-secret',
        'alpha-api-secret-that-is-long-enough',
      ],
      ...[SERVICE_SECRET, ADMIN_TOKEN, String(deployment.env.ENCRYPTION_KEY)],
      ...[...Object.values(PERSONAL), 'eyJ', 'unknown-token-of-a-stranger', 'Bearer'],
    ];

    const bet = await journey(service, player);
    for (const behaviour of ['profile', 'broken', 'failed', 'refused'] as const) {
      hostile.behave(behaviour);
      await service.profile(victim.token);
      await service.balance(victim);
      const placed = await service.place({ ...victim, amount: '3' });
      if (placed.kind === 'failed') await placed.rollback;
    }
    await strangers(service, player.token);
    await askAdmin(replica, bet);
    // The worker retries the rollbacks that the hostile wallet refused.
    await replica.process.waitForLine(({ json }) => json?.msg === 'delivery.attempted', 30_000);
    await service.close();
    await replica.process.stop();

    const written = `${replica.process.lines.map(({ text }) => text).join('\n')}${replica.process.stderr()}`;
    for (const secret of forbidden) expect(written).not.toContain(secret);
    expect(written).toContain('wallet.called');
    for (const { json, text } of replica.process.lines) {
      expect(json, text).toMatchObject({ level: expect.any(Number), time: expect.any(String) });
    }
  });

  describe('of one process', () => {
    let replica: Replica;
    let service: SimulatedService;
    let before = 0;
    beforeAll(async () => {
      replica = await deployment.replica({ LOG_LEVEL: 'debug' });
      service = serviceAt(replica);
    });
    beforeEach(() => {
      before = replica.process.lines.length;
    });
    afterAll(async () => {
      await service.close();
      await replica.process.stop();
    });
    /** The lines of callbacks since the test began, once there are as many. */
    const handledSince = async (count: number) => {
      const since = () => linesOf(replica, 'callback.handled', before);
      await expect.poll(() => since().length, { timeout: 20_000 }).toBeGreaterThanOrEqual(count);
      return since();
    };

    it('has one wide line a callback, and the request id runs through to the wallet', async () => {
      const player = await deployment.player(replica.baseUrl);
      const { transactionId } = await service.place({ ...player, amount: '5' });
      await service.settle(transactionId, { amount: '9', resultType: 'won' });
      const handled = await handledSince(2);
      expect(handled.map((line) => line.operation)).toEqual(['place', 'settle']);
      for (const line of handled) {
        expect(line).toMatchObject({
          operator: 'alpha',
          outcome: 'accepted',
          status: 200,
          durationMs: expect.any(Number),
          walletMs: expect.any(Number),
          transactionId,
        });
      }
      const ids = handled.map((line) => line.requestId);
      const called = linesOf(replica, 'wallet.called').filter(
        (line) => line.transactionId === transactionId,
      );
      expect(called.map((line) => line.requestId)).toEqual(ids);
      const heard = deployment
        .wallet('alpha')
        .requests.map(({ headers }) => headers['x-request-id']);
      expect(heard.slice(-2)).toEqual(ids);
    });

    it('says of a profile or balance in words what was wrong with the answer: no journal has it (I8)', async () => {
      const player = await deployment.player(replica.baseUrl);
      const wallet = deployment.wallet('alpha');
      const secretive = '{"code":7,"message":"Jane Doe of Elm Street"}';
      wallet.misbehave('profile', { kind: 'html' }, { calls: 1 });
      await service.profile(player.token);
      wallet.misbehave('profile', { kind: 'status', status: 200, body: '{}' }, { calls: 1 });
      await service.profile(player.token);
      wallet.misbehave('balance', { kind: 'status', status: 400, body: secretive }, { calls: 1 });
      await service.balance(player);
      wallet.misbehave('balance', { kind: 'status', status: 502 }, { calls: 1 });
      await service.balance(player);
      const handled = (await handledSince(4)).filter((line) => line.outcome !== 'accepted');
      expect(handled.map(({ reason, error }) => [reason, error])).toEqual([
        ['bad_answer', expect.stringContaining('HTTP status 200, but')],
        ['bad_answer', expect.stringContaining('userId')],
        [undefined, undefined],
        ['http_error', 'HTTP status 502'],
      ]);
    });

    it('says in a word why a wallet has answered nothing, and which field was refused', async () => {
      const player = await deployment.player(replica.baseUrl);
      const wallet = deployment.wallet('alpha');
      const { transactionId } = await service.place({ ...player, amount: '5' });
      await service.settle(
        transactionId,
        { amount: '9', resultType: 'won' },
        { resultType: '"void"' },
      );
      const restore = wallet.misbehave('any', { kind: 'status', status: 500 });
      await service.settle(transactionId, { amount: '9', resultType: 'won' });
      await service.place({ ...player, amount: '5' });
      restore();
      await wallet.down();
      await service.place({ ...player, amount: '5' });
      await wallet.up();
      const isLast = (line: NonNullable<Line['json']>) => line.outcome === 'not_sent';
      await expect.poll(() => linesOf(replica, 'callback.handled', before).some(isLast)).toBe(true);
      const handled = await handledSince(4);
      const failures = handled.filter(({ operation }) => operation !== 'rollback').slice(1);
      // The service repeats the settle.
      const said = failures.map(
        ({ operation, outcome, reason }) => `${operation} ${outcome}: ${reason}`,
      );
      expect([...new Set(said)]).toEqual([
        'settle invalid: resultType: must be one of won, lost, refund, cashout',
        'settle unknown: http_error',
        'place unknown: http_error',
        'place not_sent: connection',
      ]);
    });
  });

  it('leaves out good reads if told to, and never a bet or a failure', async () => {
    const replica = await deployment.replica({ LOG_READS_SAMPLE: '0' });
    const service = serviceAt(replica);
    const player = await deployment.player(replica.baseUrl);
    await service.profile(player.token);
    await service.balance(player);
    await service.balance({ ...player, token: 'unknown-token' });
    await service.place({ ...player, amount: '5' });
    await service.close();
    await replica.process.stop();
    const handled = linesOf(replica, 'callback.handled');
    expect(handled.map(({ operation, outcome }) => [operation, outcome])).toEqual([
      ['balance', 'invalid'],
      ['place', 'accepted'],
    ]);
  });
});

describe('the logged part of an error', () => {
  it('is its words and its causes, never the members that carry values', () => {
    const command = { name: 'set', args: ['session:1', '{"token":"tell-nobody"}'] };
    const cause = Object.assign(new Error('WRONGTYPE'), { command });
    const error = Object.assign(new Error('refused', { cause }), {
      code: '23505',
      detail: 'Key (token)=(tell-nobody) already exists.',
      parameters: ['tell-nobody'],
    });
    const facts = errorFacts(error);
    expect(JSON.stringify(facts)).not.toContain('tell-nobody');
    expect(facts).toMatchObject({ message: 'refused', code: '23505', cause: { type: 'Error' } });
    const odd = Object.assign(new Error('refused'), { code: { token: 'tell-nobody' } });
    expect(errorFacts(odd)).not.toHaveProperty('code');
  });

  it('names every address that was tried', () => {
    const tried = new AggregateError([new Error('refused by ::1'), new Error('refused by 4')]);
    expect(errorFacts(tried).message).toBe('refused by ::1; refused by 4');
  });

  it('follows causes only so far, so that a circle ends', () => {
    const circle = new Error('round');
    circle.cause = circle;
    expect(JSON.stringify(errorFacts(circle)).match(/"type"/g)).toHaveLength(5);
  });
});

type Player = Awaited<ReturnType<Deployment['player']>>;

/** Sends every kind of callback once. @returns a settled bet */
async function journey(service: SimulatedService, player: Player): Promise<string> {
  await service.profile(player.token);
  await service.balance(player);
  const { transactionId } = await service.place({ ...player, amount: '10' });
  await service.update(transactionId, '1.5');
  await service.settle(transactionId, { amount: '20', resultType: 'won' });
  await service.unsettle(transactionId);
  await service.settle(transactionId, { amount: '12', resultType: 'cashout', token: player.token });
  await service.place({ ...player, amount: '1000000' });
  const other = await service.place({ ...player, amount: '1' });
  await service.rollback(other.transactionId);
  return transactionId;
}

/** Requests that the gateway cannot verify or read. */
async function strangers(service: SimulatedService, token: string): Promise<void> {
  const body = { token, requestId: randomUUID(), email: PERSONAL.email };
  await service.call('POST', '/user/profile', body, { signWith: 'wrong' });
  await service.call('POST', '/user/profile', body, { signWith: null });
  await service.call('POST', '/user/profile', { ...body, token: 'unknown-token-of-a-stranger' });
  await service.call('POST', '/user/balance', `{"token":"${token}",,}`);
  await service.call('POST', '/payment/bet', { ...body, type: 1, amount: PERSONAL.email });
  await service.call('PUT', '/payment/bet', { ...body, type: 7 });
  await service.call('POST', `/nowhere?token=${token}`, body);
}

async function askAdmin({ adminUrl }: Replica, transactionId: string): Promise<void> {
  const ask = (path: string, authorization: string) =>
    fetch(`${adminUrl}${path}`, { headers: { authorization } });
  await ask(`/admin/bets/${transactionId}`, 'Bearer unknown-token-of-a-stranger');
  const answer = await ask(`/admin/bets/${transactionId}`, `Bearer ${ADMIN_TOKEN}`);
  expect(answer.status).toBe(200);
  await ask('/admin/deliveries', `Bearer ${ADMIN_TOKEN}`);
}

function linesOf(replica: Replica, msg: string, from = 0): NonNullable<Line['json']>[] {
  return replica.process.lines.slice(from).flatMap(({ json }) => (json?.msg === msg ? [json] : []));
}
