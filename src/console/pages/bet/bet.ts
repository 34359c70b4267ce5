import type { Answers } from '../../api/wire.ts';

export type ShownBet = Answers['GET /admin/bets/:transactionId'];
export type ShownOperation = ShownBet['operations'][number];
export type ShownAttempt = ShownOperation['attempts'][number];
