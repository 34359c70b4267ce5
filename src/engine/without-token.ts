import type { BetAnswer } from '../domain/wallet-answer.ts';

/** The answer for a call that was not made because its token could not be read from PostgreSQL. */
export const WITHOUT_TOKEN: BetAnswer = {
  kind: 'notSent',
  reason: 'database',
  trace: {
    sent: false,
    latencyMs: 0,
    error: 'PostgreSQL did not give the token that goes with the call',
  },
};
