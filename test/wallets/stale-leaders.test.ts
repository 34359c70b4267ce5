import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/domain/clock.ts';
import { BreakersTogether, joinHere } from '../../src/process/breakers-together.ts';
import { createMetrics } from '../../src/telemetry/metrics.ts';
import { createWallets, type Wallets } from '../../src/wallets/wallets.ts';
import { betCall, walletConfig } from './support/calls.ts';
import { type RawWallet, reply, replyAccepted, startRawWallet } from './support/raw-wallet.ts';

const BREAKER = { errorPercent: 50, minRequests: 2, windowMs: 60_000, openMs: 60_000 };

describe('a breaker that has opened, and is closed without a call of its own', () => {
  const opened: Wallets[] = [];
  let together: BreakersTogether;
  let server: RawWallet;
  let isWell: boolean;
  beforeEach(async () => {
    together = new BreakersTogether();
    isWell = false;
    server = await startRawWallet((request) => {
      if (isWell) replyAccepted(request);
      else reply(request.socket, 500, '{}');
    });
  });
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((wallets) => wallets.close()));
    await server.close();
  });

  const alpha = (minRequests = 2) =>
    walletConfig('alpha', { baseUrl: server.origin, breaker: { ...BREAKER, minRequests } });

  /** One of the processes that call the same wallets. */
  function begin(): Wallets {
    const wallets = createWallets({
      metrics: createMetrics(),
      logger: pino({ level: 'silent' }),
      clock: systemClock,
    });
    opened.push(wallets);
    wallets.apply([alpha()]);
    joinHere(together, wallets);
    return wallets;
  }

  const stateAt = (wallets: Wallets) => wallets.get('alpha')?.breakerState('money');

  async function brokenAtTwo(): Promise<readonly Wallets[]> {
    const processes = [begin(), begin()];
    for (let call = 0; call < 2; call += 1) await processes[0]?.get('alpha')?.bet(betCall());
    await expect.poll(() => processes.map(stateAt)).toEqual(['open', 'open']);
    isWell = true;
    return processes;
  }

  it.each([
    [
      'a person',
      (wallets: Wallets) => {
        wallets.setOverride('alpha', 'money', 'closed');
        wallets.setOverride('alpha', 'money', 'auto');
      },
    ],
    ['new settings', (wallets: Wallets) => wallets.apply([alpha(3)])],
    [
      'its operator’s removal and return',
      (wallets: Wallets) => {
        wallets.apply([]);
        wallets.apply([alpha()]);
      },
    ],
  ])('by %s, is not open at a process that begins later (I7)', async (_, close) => {
    const processes = await brokenAtTwo();
    for (const wallets of processes) close(wallets);
    await expect.poll(() => processes.map(stateAt)).toEqual(['closed', 'closed']);
    const late = begin();
    expect(stateAt(late)).toBe('closed');
    expect(await late.get('alpha')?.bet(betCall())).toMatchObject({ kind: 'accepted' });
  });
});
