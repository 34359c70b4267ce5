import { pino } from 'pino';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { systemClock } from '../../src/domain/clock.ts';
import type { Operation } from '../../src/domain/operation.ts';
import { signingKeys, verify } from '../../src/protocol/signature.ts';
import { createMetrics, type Metrics } from '../../src/telemetry/metrics.ts';
import type { Wallet } from '../../src/wallets/call.ts';
import type { WalletOwner, WalletSettings } from '../../src/wallets/wallet-config.ts';
import { createWallets, type Wallets } from '../../src/wallets/wallets.ts';
import {
  betCall,
  deadlineIn,
  manualClock,
  readCall,
  SECRET,
  walletConfig,
} from './support/calls.ts';
import {
  type RawRequest,
  type RawWallet,
  reply,
  replyAccepted,
  startRawWallet,
} from './support/raw-wallet.ts';

const FRAGILE = { errorPercent: 50, minRequests: 4, windowMs: 5000, openMs: 200 };
const opened: { close(): Promise<void> }[] = [];

afterEach(async () => {
  for (const one of opened.splice(0)) await one.close();
});

interface Stage {
  readonly wallet: Wallet;
  readonly wallets: Wallets;
  readonly server: RawWallet;
  readonly metrics: Metrics;
}

/** One operator before a raw wallet. */
async function stage(
  onRequest: (request: RawRequest, index: number) => void,
  settings: Partial<WalletSettings> = {},
  status: WalletOwner['status'] = 'active',
): Promise<Stage> {
  const server = await startRawWallet(onRequest);
  const metrics = createMetrics();
  const wallets = createWallets({ metrics, logger: pino({ level: 'silent' }), clock: systemClock });
  wallets.apply([
    walletConfig('alpha', { baseUrl: `${server.origin}/sportsbook`, ...settings }, status),
  ]);
  opened.push(wallets, server);
  return { wallet: walletOf(wallets, 'alpha'), wallets, server, metrics };
}

function walletOf(wallets: Wallets, operatorId: string): Wallet {
  const wallet = wallets.get(operatorId);
  if (wallet === undefined) throw new Error(`no wallet of ${operatorId}`);
  return wallet;
}

async function metricValue(
  metric: { get(): Promise<{ values: { value: number; labels: object }[] }> },
  labels: object,
): Promise<number | undefined> {
  const { values } = await metric.get();
  return values.find((one) => JSON.stringify(one.labels) === JSON.stringify(labels))?.value;
}

async function repeat(times: number, call: () => Promise<unknown>): Promise<void> {
  for (let n = 0; n < times; n += 1) await call();
}

describe('a bet call', () => {
  it('is accepted, and what arrived is what was signed (I9)', async () => {
    const { wallet, server } = await stage(replyAccepted);
    const body = '{"transactionId":"t-1","amount":12.10,"odd":"\\u0000é"}';
    const answer = await wallet.bet(betCall({ transactionId: 't-1', body, requestId: 'req-1' }));
    expect(answer).toMatchObject({
      kind: 'accepted',
      transactionTime: '2026-01-02T03:04:05Z',
      trace: { sent: true, status: 200 },
    });
    const [request] = server.requests;
    expect(request?.line).toBe('POST /sportsbook/payment/bet HTTP/1.1');
    expect(request?.body.toString()).toBe(body);
    expect(request?.headers['x-request-id']).toBe('req-1');
    expect(Number(request?.headers['x-deadline-ms'])).toBeGreaterThan(3000);
    const signature = request?.headers['x-sign-jws'];
    expect(verify(signature, request?.body ?? Buffer.alloc(0), signingKeys([SECRET])).ok).toBe(
      true,
    );
  });

  it('is declined in the wallet’s words', async () => {
    const { wallet } = await stage(({ socket }) =>
      reply(socket, 400, '{"code":7,"message":"Poor"}'),
    );
    expect(await wallet.bet(betCall())).toMatchObject({
      kind: 'declined',
      code: 7,
      message: 'Poor',
      trace: { sent: true, status: 400, code: 7 },
    });
  });

  it.each<[string, string, (request: RawRequest) => void]>([
    [
      'bad_answer',
      'another transactionId',
      ({ socket }) => reply(socket, 200, '{"transactionId":"x"}'),
    ],
    ['bad_answer', 'HTML', ({ socket }) => reply(socket, 200, '<html>')],
    ['bad_answer', 'an empty body', ({ socket }) => reply(socket, 200, '')],
    ['bad_answer', '400 without a code', ({ socket }) => reply(socket, 400, '{}')],
    ['bad_answer', '400 with text for a code', ({ socket }) => reply(socket, 400, '{"code":"7"}')],
    ['bad_answer', '400 with code 100', ({ socket }) => reply(socket, 400, '{"code":100}')],
    [
      'bad_answer',
      '65 KiB',
      ({ socket }) => reply(socket, 200, `{"a":"${'x'.repeat(65 * 1024)}"}`),
    ],
    ['http_error', '401', ({ socket }) => reply(socket, 401, '{"code":1}')],
    ['http_error', '500', ({ socket }) => reply(socket, 500, '{"code":7}')],
    ['http_error', '503', ({ socket }) => reply(socket, 503, '')],
    ['http_error', 'a redirect', ({ socket }) => reply(socket, 302, '', 'location: /x\r\n')],
    ['connection', 'a reset', ({ socket }) => socket.resetAndDestroy()],
    ['timeout', 'nothing', () => undefined],
  ])(
    'leaves a place unknown by %s after %s, having been sent once (I2, I5)',
    async (fault, _, onRequest) => {
      const { wallet, server } = await stage(onRequest);
      const answer = await wallet.bet(betCall({ deadline: deadlineIn(250) }));
      expect(answer).toMatchObject({ kind: 'unknown', fault, trace: { sent: true } });
      expect(server.requests).toHaveLength(1);
    },
  );

  it('is not sent to a wallet that refuses connections', async () => {
    const gone = await startRawWallet(() => undefined);
    await gone.close();
    const { wallet } = await stage(replyAccepted, { baseUrl: gone.origin });
    expect(await wallet.bet(betCall())).toMatchObject({
      kind: 'notSent',
      reason: 'connection',
      trace: { sent: false },
    });
  });

  it('is not sent when its deadline leaves too little', async () => {
    const { wallet, server, metrics } = await stage(replyAccepted);
    const answer = await wallet.bet(betCall({ deadline: deadlineIn(49, manualClock()) }));
    expect(answer).toMatchObject({ kind: 'notSent', reason: 'deadline', trace: { sent: false } });
    expect(server.connections).toBe(0);
    expect(await metricValue(metrics.rejected, { operator: 'alpha', reason: 'deadline' })).toBe(1);
  });

  it('stays unknown when the adapter fails over the answer (I2)', async () => {
    const { wallet } = await stage(replyAccepted);
    const call = betCall();
    // Read only when the answer is judged.
    Object.defineProperty(call, 'transactionId', {
      get: () => {
        throw new Error('bug');
      },
    });
    expect(await wallet.bet(call)).toMatchObject({ kind: 'unknown', fault: 'bad_answer' });
    expect(wallet.inFlight('money')).toBe(0);
  });
});

describe('a read', () => {
  it('gives the body as it came', async () => {
    const body = '{"userId":"p1","currency":"EUR","amount":12.10}';
    const { wallet, server } = await stage(({ socket }) => reply(socket, 200, body));
    const answer = await wallet.read(readCall({ operation: 'balance' }));
    expect(answer).toMatchObject({ kind: 'answered', body: Buffer.from(body) });
    expect(server.requests[0]?.line).toBe('POST /sportsbook/user/balance HTTP/1.1');
  });

  it('may be larger than a bet’s answer', async () => {
    const body = JSON.stringify({ userId: 'p1', currency: 'EUR', note: 'x'.repeat(200 * 1024) });
    const { wallet } = await stage(({ socket }) => reply(socket, 200, body));
    expect(await wallet.read(readCall({ operation: 'profile' }))).toMatchObject({
      kind: 'answered',
    });
  });
});

describe('the operator’s status', () => {
  it.each<[WalletOwner['status'], Operation, string | undefined]>([
    ['maintenance', 'profile', 'maintenance'],
    ['maintenance', 'place', 'maintenance'],
    ['maintenance', 'rollback', 'maintenance'],
    ['suspended', 'profile', 'suspended'],
    ['suspended', 'balance', 'suspended'],
    ['suspended', 'place', 'suspended'],
    ['suspended', 'settle', undefined],
    ['suspended', 'unsettle', undefined],
    ['suspended', 'rollback', undefined],
    ['suspended', 'update', undefined],
    ['active', 'place', undefined],
  ])('%s answers %s with %s', async (status, operation, reason) => {
    const { wallet, server, metrics } = await stage(replyAccepted, {}, status);
    expect(wallet.refusal(operation)).toBe(reason);
    if (reason === undefined || operation === 'profile' || operation === 'balance') return;
    expect(await wallet.bet(betCall({ operation }))).toMatchObject({ kind: 'notSent', reason });
    expect(server.connections).toBe(0);
    expect(await metricValue(metrics.rejected, { operator: 'alpha', reason })).toBe(1);
  });
});

describe('the breaker', () => {
  const broken = ({ socket }: RawRequest) => reply(socket, 500, '');

  it('opens on faults, refuses, and closes with the first good call', async () => {
    let healthy = false;
    const onRequest = (request: RawRequest) => (healthy ? replyAccepted : broken)(request);
    const { wallet, wallets, server, metrics } = await stage(onRequest, { breaker: FRAGILE });
    const changes: string[] = [];
    wallets.onBreakerChange(({ operatorId, callClass, state }) =>
      changes.push(`${operatorId} ${callClass} ${state}`),
    );
    const gauge = () => metricValue(metrics.breakerState, { operator: 'alpha', class: 'money' });

    expect(await gauge()).toBe(0);
    await repeat(4, () => wallet.bet(betCall()));
    expect(wallet.breakerState('money')).toBe('open');
    expect(await gauge()).toBe(2);
    expect(wallet.refusal('rollback')).toBe('breaker');
    expect(await wallet.bet(betCall())).toMatchObject({ kind: 'notSent', reason: 'breaker' });
    expect(server.requests).toHaveLength(4);

    await vi.waitFor(() => expect(wallet.breakerState('money')).toBe('half_open'), { interval: 5 });
    expect(await gauge()).toBe(1);
    expect(wallet.refusal('place')).toBeUndefined();
    healthy = true;
    expect(await wallet.bet(betCall())).toMatchObject({ kind: 'accepted' });
    expect(wallet.breakerState('money')).toBe('closed');
    expect(changes).toEqual(['alpha money open', 'alpha money half_open', 'alpha money closed']);
  });

  it('admits one call when half-open, and no data update', async () => {
    const { wallet, server } = await stage(
      (request, index) => (index < 4 ? broken(request) : undefined),
      { breaker: FRAGILE },
    );
    await repeat(4, () => wallet.bet(betCall()));
    await vi.waitFor(() => expect(wallet.breakerState('money')).toBe('half_open'), { interval: 5 });
    expect(wallet.refusal('update')).toBe('breaker');
    const probe = wallet.bet(betCall());
    const beside = await wallet.bet(betCall());
    expect(beside).toMatchObject({ kind: 'notSent', reason: 'breaker' });
    expect(wallet.refusal('place')).toBe('breaker');
    replyAccepted(await server.arrived(5));
    expect(await probe).toMatchObject({ kind: 'accepted' });
    expect(wallet.breakerState('money')).toBe('closed');
  });

  it.each<[string, (request: RawRequest) => void]>([
    ['declines', ({ socket }) => reply(socket, 400, '{"code":7}')],
    ['declines that leave a place unknown', ({ socket }) => reply(socket, 400, '{"code":100}')],
  ])('does not open on %s', async (_, onRequest) => {
    const { wallet, metrics } = await stage(onRequest, { breaker: FRAGILE });
    await repeat(8, () => wallet.bet(betCall()));
    expect(wallet.breakerState('money')).toBe('closed');
    const labels = { operator: 'alpha', operation: 'place', result: 'declined' };
    expect(await metricValue(metrics.walletRequests, labels)).toBe(8);
  });

  it('does not open on deadlines that were over before anything was sent', async () => {
    const { wallet } = await stage(replyAccepted, { breaker: FRAGILE });
    await repeat(8, () => wallet.bet(betCall({ deadline: deadlineIn(0) })));
    expect(wallet.breakerState('money')).toBe('closed');
  });

  it('opens on refused connections', async () => {
    const gone = await startRawWallet(() => undefined);
    await gone.close();
    const settings = { baseUrl: gone.origin, breaker: FRAGILE };
    const { wallet, metrics } = await stage(replyAccepted, settings);
    await repeat(4, () => wallet.bet(betCall()));
    expect(wallet.breakerState('money')).toBe('open');
    const labels = { operator: 'alpha', operation: 'place', result: 'connection' };
    expect(await metricValue(metrics.walletRequests, labels)).toBe(4);
  });

  it('is not opened by data updates, but holds them back when it is open', async () => {
    const { wallet, server } = await stage(broken, { breaker: FRAGILE });
    await repeat(8, () => wallet.bet(betCall({ operation: 'update', method: 'PUT' })));
    expect(wallet.breakerState('money')).toBe('closed');
    await repeat(4, () => wallet.bet(betCall()));
    expect(wallet.refusal('update')).toBe('breaker');
    expect(server.requests).toHaveLength(12);
  });

  it('is one per class: broken reads leave bets alone (I7)', async () => {
    const { wallet } = await stage(
      (request) => (request.line.includes('/user/') ? broken : replyAccepted)(request),
      { breaker: FRAGILE },
    );
    await repeat(4, () => wallet.read(readCall()));
    expect([wallet.breakerState('read'), wallet.breakerState('money')]).toEqual(['open', 'closed']);
    expect(wallet.refusal('balance')).toBe('breaker');
    expect(await wallet.bet(betCall())).toMatchObject({ kind: 'accepted' });
  });
});

describe('the bulkhead', () => {
  it('refuses one call too many at once, and keeps reads and bets apart (I7)', async () => {
    const hanging: RawRequest[] = [];
    const { wallet, metrics } = await stage(
      (request) => {
        if (request.line.includes('/user/')) hanging.push(request);
        else replyAccepted(request);
      },
      { maxConcurrent: { read: 2, money: 2 } },
    );
    const reads = [wallet.read(readCall()), wallet.read(readCall())];
    expect(wallet.inFlight('read')).toBe(2);
    expect(wallet.refusal('balance')).toBe('bulkhead');
    expect(await wallet.read(readCall())).toMatchObject({ kind: 'notSent', reason: 'bulkhead' });
    expect(await wallet.bet(betCall())).toMatchObject({ kind: 'accepted' });
    expect(await metricValue(metrics.inFlight, { operator: 'alpha', class: 'read' })).toBe(2);

    await vi.waitFor(() => expect(hanging).toHaveLength(2), { interval: 5 });
    for (const { socket } of hanging) reply(socket, 200, '{"amount":1}');
    for (const read of reads) expect(await read).toMatchObject({ kind: 'answered' });
    expect(wallet.inFlight('read')).toBe(0);
    expect(await metricValue(metrics.inFlight, { operator: 'alpha', class: 'read' })).toBe(0);
  });

  it('is left by calls that time out, so that a thawed wallet is reached again', async () => {
    let frozen = true;
    const { wallet } = await stage((request) => !frozen && replyAccepted(request), {
      maxConcurrent: { read: 1, money: 1 },
      timeoutMs: 100,
    });
    expect(await wallet.bet(betCall())).toMatchObject({ kind: 'unknown', fault: 'timeout' });
    frozen = false;
    expect(await wallet.bet(betCall())).toMatchObject({ kind: 'accepted' });
  });
});

describe('two operators', () => {
  it('do not feel each other: one that hangs on all its connections delays no other (I7)', async () => {
    const hanging: RawRequest[] = [];
    const maxConcurrent = { read: 4, money: 16 };
    const { wallet, wallets, server } = await stage((request) => hanging.push(request));
    const healthy = await startRawWallet(replyAccepted);
    opened.push(healthy);
    wallets.apply([
      walletConfig('alpha', { baseUrl: server.origin, maxConcurrent }),
      walletConfig('beta', { baseUrl: healthy.origin }),
    ]);
    let ended = 0;
    const stuck = Array.from({ length: 16 }, () =>
      wallet.bet(betCall()).finally(() => (ended += 1)),
    );
    await server.arrived(16);
    await repeat(50, async () => {
      expect(await walletOf(wallets, 'beta').bet(betCall())).toMatchObject({ kind: 'accepted' });
    });
    expect(ended).toBe(0);
    for (const request of hanging) replyAccepted(request);
    for (const call of stuck) expect(await call).toMatchObject({ kind: 'accepted' });
  });
});
