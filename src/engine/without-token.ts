import type { BetAnswer } from '../domain/wallet-answer.ts';

/** Of a call that was not made because PostgreSQL did not tell the token that goes with it. */
export const WITHOUT_TOKEN: BetAnswer = {
  kind: 'notSent',
  reason: 'database',
  trace: {
    sent: false,
    latencyMs: 0,
    error: 'PostgreSQL did not give the token that goes with the call',
  },
};
