import { describe, expect, it } from 'vitest';
import { healthOf } from '../../src/wallets/health.ts';
import {
  OTHERS_FAULTS,
  OWN_SHORTAGES,
  withoutConnection,
} from '../outbound/support/without-connection.ts';

/** How the wallet's lane reports a call without a connection. */
async function answerWithout(code: string) {
  const { reason, error, isOwnShortage } = await withoutConnection(code);
  const own = isOwnShortage === undefined ? {} : { isOwnShortage };
  return { kind: 'notSent', reason, trace: { sent: false, latencyMs: 0, error, ...own } } as const;
}

describe('a call without a connection', () => {
  it.each(OWN_SHORTAGES)(
    'says nothing about the wallet when this side lacks what it takes (%s, I7)',
    async (code) => {
      const answer = await answerWithout(code);
      expect(answer.reason).toBe('connection');
      expect(answer.trace.error).toContain(code);
      expect(healthOf(answer)).toBe('neutral');
    },
  );

  it.each(OTHERS_FAULTS)(
    'counts against the wallet when nobody answers there (%s)',
    async (code) => {
      expect(healthOf(await answerWithout(code))).toBe('faulty');
    },
  );
});
