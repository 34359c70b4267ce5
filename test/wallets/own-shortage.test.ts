import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/domain/clock.ts';
import { HttpCall } from '../../src/outbound/http-call.ts';
import { healthOf } from '../../src/wallets/health.ts';

/** How a call ends that got no connection, because of an error with this code. */
async function withoutConnection(code: string) {
  const call = new HttpCall({
    clock: systemClock,
    limitMs: 10_000,
    answerBytesMax: 1_000,
    maySend: () => true,
  });
  // Before a connection took the request, so that undici has no controller of use either.
  const controller = {
    aborted: false,
    paused: false,
    reason: null,
    pause: () => undefined,
    resume: () => undefined,
    abort: () => undefined,
  };
  call.onResponseError(controller, Object.assign(new Error(`connect ${code}`), { code }));
  const exchange = await call.outcome;
  if (exchange.kind !== 'notSent') throw new Error(`it ended as ${exchange.kind}`);
  const { reason, error, isOwnShortage } = exchange;
  const own = isOwnShortage === undefined ? {} : { isOwnShortage };
  return { kind: 'notSent', reason, trace: { sent: false, latencyMs: 0, error, ...own } } as const;
}

describe('a call without a connection', () => {
  it.each(['EMFILE', 'ENFILE', 'EADDRNOTAVAIL', 'ENOBUFS', 'ENOMEM'])(
    'says nothing about the wallet when this side lacks what it takes (%s, I7)',
    async (code) => {
      const answer = await withoutConnection(code);
      expect(answer.reason).toBe('connection');
      expect(answer.trace.error).toContain(code);
      expect(healthOf(answer)).toBe('neutral');
    },
  );

  it.each(['ECONNREFUSED', 'ENOTFOUND', 'ETIMEDOUT', 'EHOSTUNREACH'])(
    'speaks against the wallet when nobody answers there (%s)',
    async (code) => {
      expect(healthOf(await withoutConnection(code))).toBe('faulty');
    },
  );
});
