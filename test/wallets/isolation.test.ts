import { afterEach, describe, expect, it, vi } from 'vitest';
import { PATIENT_MS } from '../support/timing.ts';
import { betCall, readCall, walletConfig } from './support/calls.ts';
import { type RawRequest, reply, replyAccepted, startRawWallet } from './support/raw-wallet.ts';
import {
  closeOpened,
  FRAGILE,
  metricValue,
  opened,
  repeat,
  stage,
  walletOf,
} from './support/stage.ts';

afterEach(closeOpened);

describe('the breaker', () => {
  const broken = ({ socket }: RawRequest) => reply(socket, 500, '');

  it('opens on faults, refuses, and closes with the first good call', async () => {
    let healthy = false;
    const onRequest = (request: RawRequest) => (healthy ? replyAccepted : broken)(request);
    const { wallet, wallets, server, metrics } = await stage(onRequest, { breaker: FRAGILE });
    const tried = ['alpha money open', 'alpha money half_open'];
    const changes: string[] = [];
    wallets.onBreakerChange(({ operatorId, callClass, state }) =>
      changes.push(`${operatorId} ${callClass} ${state}`),
    );
    const labels = { operator: 'alpha', class: 'money' };
    const gauge = () => metricValue(metrics.breakerState, labels);

    expect(await gauge()).toBe(0);
    await repeat(4, () => wallet.bet(betCall()));
    expect(wallet.breakerState('money')).toBe('open');
    expect(await gauge()).toBe(2);
    expect(wallet.refusal('rollback')).toBe('breaker');
    expect(await wallet.bet(betCall())).toMatchObject({ kind: 'notSent', reason: 'breaker' });
    expect(server.requests).toHaveLength(4);

    await vi.waitFor(() => expect(wallet.breakerState('money')).toBe('half_open'), {
      interval: 5,
      timeout: PATIENT_MS,
    });
    expect(await gauge()).toBe(1);
    expect(wallet.refusal('place')).toBeUndefined();
    await wallet.bet(betCall());
    // A failed probe.
    await vi.waitFor(() => expect(changes.slice(2)).toEqual(tried), {
      interval: 5,
      timeout: PATIENT_MS,
    });
    healthy = true;
    expect(await wallet.bet(betCall())).toMatchObject({ kind: 'accepted' });
    expect(wallet.breakerState('money')).toBe('closed');
    expect(changes).toEqual([...tried, ...tried, 'alpha money closed']);
  });

  it('admits one call when half-open, and no data update', async () => {
    const { wallet, server } = await stage(
      (request, index) => (index < 4 ? broken(request) : undefined),
      { breaker: FRAGILE },
    );
    await repeat(4, () => wallet.bet(betCall()));
    await vi.waitFor(() => expect(wallet.breakerState('money')).toBe('half_open'), {
      interval: 5,
      timeout: PATIENT_MS,
    });
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

    await vi.waitFor(() => expect(hanging).toHaveLength(2), { interval: 5, timeout: PATIENT_MS });
    for (const { socket } of hanging) reply(socket, 200, '{"amount":1}');
    for (const read of reads) expect(await read).toMatchObject({ kind: 'answered' });
    expect(wallet.inFlight('read')).toBe(0);
    expect(await metricValue(metrics.inFlight, { operator: 'alpha', class: 'read' })).toBe(0);
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
