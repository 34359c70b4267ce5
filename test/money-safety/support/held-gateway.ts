import { expect, vi } from 'vitest';
import {
  startTestGateway,
  type TestGateway,
  type TestGatewayOptions,
} from '../../support/gateway.ts';
import { startTcpProxy, type TcpProxy } from '../../support/tcp-proxy.ts';
import { acceptedBet } from './bets.ts';
import { PATIENCE } from './patience.ts';

/** Enough on a busy machine for a bet that waits for nothing; and no test waits longer for it. */
export const TOTAL_MS = 3_000;
/** How PostgreSQL's protocol ends the name of a prepared statement. */
const name = (statement: string) => `${statement}\0`;
export const STATEMENTS = {
  find: name('bet-find'),
  commit: name('bet-commit-change'),
  finish: name('bet-finish'),
  finishAgain: name('bet-finish-again'),
  refusal: name('bet-record-refusal'),
  correct: name('bet-correct-answer'),
  placeBegin: name('place-begin'),
  placeFinish: name('place-finish'),
  claim: name('delivery-claim'),
} as const;

/** A gateway whose connections to PostgreSQL can each be held. */
export interface HeldGateway {
  readonly gateway: TestGateway;
  readonly postgres: TcpProxy;
  close(): Promise<void>;
}

export async function startHeldGateway(options: TestGatewayOptions = {}): Promise<HeldGateway> {
  const proxies: TcpProxy[] = [];
  const gateway = await startTestGateway({
    ...options,
    gateway: { deadline: { totalMs: TOTAL_MS, reserveMs: 300 }, ...options.gateway },
    through: async ({ databaseUrl, redisUrl }) => {
      const proxy = await startTcpProxy(databaseUrl);
      proxies.push(proxy);
      return { databaseUrl: proxy.through(databaseUrl), redisUrl };
    },
  });
  const [postgres] = proxies;
  if (postgres === undefined) throw new Error('no proxy before PostgreSQL');
  return {
    gateway,
    postgres,
    close: async () => {
      await gateway.close();
      await postgres.close();
    },
  };
}

/**
 * Long enough for everything that a released request could still do: another bet makes every possible round trip,
 * one after another, and no connection is in use afterwards.
 */
export async function settleDown(gateway: TestGateway): Promise<void> {
  const other = await acceptedBet(gateway);
  const unsettled = async () => expect((await other.unsettle()).status).toBe(200);
  await vi.waitFor(unsettled, PATIENCE);
  const inUse = () => gateway.parts.pools().reduce((sum, pool) => sum + pool.inUse, 0);
  await expect.poll(inUse, PATIENCE).toBe(0);
}

/** @returns waits until the whole time of a caller that arrives now is over, on any clock */
export function deadlineOf(): () => Promise<void> {
  const endsAtMs = performance.now() + TOTAL_MS + 50;
  return async () => {
    await expect.poll(() => performance.now() > endsAtMs, PATIENCE).toBe(true);
  };
}
