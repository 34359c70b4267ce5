import { pino } from 'pino';
import { afterEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/domain/clock.ts';
import { createMetrics } from '../../src/telemetry/metrics.ts';
import type { Wallet } from '../../src/wallets/call.ts';
import { createWallets } from '../../src/wallets/wallets.ts';
import { betCall, walletConfig } from './support/calls.ts';
import {
  type RawRequest,
  type RawWallet,
  reply,
  replyAccepted,
  startRawWallet,
} from './support/raw-wallet.ts';
import { walletOf } from './support/stage.ts';

const FRAGILE = { errorPercent: 50, minRequests: 2, windowMs: 5000, openMs: 60_000 };
const opened: { close(): Promise<void> }[] = [];

afterEach(async () => {
  for (const one of opened.splice(0)) await one.close();
});

async function server(onRequest: (request: RawRequest) => void): Promise<RawWallet> {
  const made = await startRawWallet(onRequest);
  opened.push(made);
  return made;
}

function registry() {
  const metrics = createMetrics();
  const wallets = createWallets({ metrics, logger: pino({ level: 'silent' }), clock: systemClock });
  opened.unshift(wallets);
  return { wallets, metrics };
}

async function break2(wallet: Wallet): Promise<void> {
  await wallet.bet(betCall());
  await wallet.bet(betCall());
  expect(wallet.breakerState('money')).toBe('open');
}

describe('applying operators', () => {
  it('uses no open connection to a private address any more, once that is not allowed', async () => {
    const inside = await server(replyAccepted);
    const { wallets } = registry();
    wallets.apply([walletConfig('alpha', { baseUrl: inside.origin, allowPrivate: true })]);
    const wallet = walletOf(wallets, 'alpha');
    expect(await wallet.bet(betCall())).toMatchObject({ kind: 'accepted' });
    wallets.apply([walletConfig('alpha', { baseUrl: inside.origin, allowPrivate: false })]);
    expect(await wallet.bet(betCall())).toMatchObject({ kind: 'notSent', reason: 'connection' });
  });

  it('lets calls under way end where they were sent', async () => {
    const old = await server(() => undefined);
    const next = await server(replyAccepted);
    const { wallets } = registry();
    wallets.apply([walletConfig('alpha', { baseUrl: old.origin })]);
    const call = walletOf(wallets, 'alpha').bet(betCall());
    const request = await old.arrived(1);
    wallets.apply([walletConfig('alpha', { baseUrl: next.origin })]);
    replyAccepted(request);
    expect(await call).toMatchObject({ kind: 'accepted' });
    expect(next.requests).toHaveLength(0);
  });

  it('lets calls of a removed operator end, sends no more, and drops its gauges', async () => {
    const only = await server(() => undefined);
    const { wallets, metrics } = registry();
    wallets.apply([walletConfig('alpha', { baseUrl: only.origin })]);
    const wallet = walletOf(wallets, 'alpha');
    const call = wallet.bet(betCall());
    const request = await only.arrived(1);
    wallets.apply([]);
    expect(await wallet.bet(betCall())).toMatchObject({ kind: 'notSent', reason: 'connection' });
    replyAccepted(request);
    expect(await call).toMatchObject({ kind: 'accepted' });
    expect(only.requests).toHaveLength(1);
    expect((await metrics.inFlight.get()).values).toEqual([]);
    expect((await metrics.breakerState.get()).values).toEqual([]);
  });
});

describe('breakers and reloads', () => {
  const broken = ({ socket }: RawRequest) => reply(socket, 500, '');

  it('remember across a reload of other settings, and start again with their own', async () => {
    const only = await server(broken);
    const { wallets } = registry();
    const config = (changes: object) =>
      walletConfig('alpha', { baseUrl: only.origin, breaker: FRAGILE, ...changes });
    wallets.apply([config({})]);
    const wallet = walletOf(wallets, 'alpha');
    await break2(wallet);
    wallets.apply([config({ timeoutMs: 1234 })]);
    expect(wallet.breakerState('money')).toBe('open');
    const changes: string[] = [];
    wallets.onBreakerChange(({ callClass, state }) => changes.push(`${callClass} ${state}`));
    wallets.apply([config({ breaker: { ...FRAGILE, minRequests: 3 } })]);
    expect(wallet.breakerState('money')).toBe('closed');
    await Promise.resolve();
    expect(changes).toEqual(['money closed']);
  });

  it('keep an override through reloads, removal and return, until it is taken back', async () => {
    const only = await server(replyAccepted);
    const { wallets } = registry();
    const config = (minRequests: number) =>
      walletConfig('alpha', { baseUrl: only.origin, breaker: { ...FRAGILE, minRequests } });
    wallets.setOverride('alpha', 'money', 'open');
    wallets.apply([config(2)]);
    const state = () => walletOf(wallets, 'alpha').breakerState('money');
    expect(state()).toBe('open');
    wallets.apply([config(3)]);
    expect(state()).toBe('open');
    wallets.apply([]);
    wallets.apply([config(3)]);
    expect(state()).toBe('open');
    expect(walletOf(wallets, 'alpha').breakerState('read')).toBe('closed');
    expect(await walletOf(wallets, 'alpha').bet(betCall())).toMatchObject({ reason: 'breaker' });
    wallets.setOverride('alpha', 'money', 'auto');
    expect(state()).toBe('closed');
    expect(await walletOf(wallets, 'alpha').bet(betCall())).toMatchObject({ kind: 'accepted' });
  });
});

describe('closing', () => {
  it('waits for calls under way', async () => {
    const only = await server(() => undefined);
    const { wallets } = registry();
    wallets.apply([walletConfig('alpha', { baseUrl: only.origin })]);
    const call = walletOf(wallets, 'alpha').bet(betCall());
    const request = await only.arrived(1);
    const closing = wallets.close();
    replyAccepted(request);
    expect(await call).toMatchObject({ kind: 'accepted' });
    await closing;
    expect(wallets.get('alpha')).toBeUndefined();
  });
});
