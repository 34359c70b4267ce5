import type { Answers } from '../../api/wire.ts';
import { membersOf } from '../../parts/exact-json.ts';

export type ShownBet = Answers['GET /admin/bets/:transactionId'];
export type ShownOperation = ShownBet['operations'][number];
export type ShownAttempt = ShownOperation['attempts'][number];

/** The kind of the last result, or `unsettle`, if the wallet refused it: the service does not repeat it. */
export function refusedResult({ operations }: ShownBet): string | undefined {
  const last = operations.findLast(
    ({ operation }) => operation === 'settle' || operation === 'unsettle',
  );
  const isRefused = last?.answer?.status === 400 && last.attempts.at(-1)?.result === 'declined';
  if (!isRefused) return undefined;
  return last.operation === 'unsettle' ? 'unsettle' : (membersOf(last.request).resultType ?? '');
}

/** Whether the bet's result is a person's word: they resolved the last operation that decided about it. */
export function isResolvedByHand({ operations }: ShownBet): boolean {
  const results = operations.filter(
    ({ operation }) => operation === 'settle' || operation === 'unsettle',
  );
  const decisive = results.findLast((operation) => isResolved(operation) || isTaken(operation));
  return decisive !== undefined && isResolved(decisive);
}

function isResolved({ delivery }: ShownOperation): boolean {
  return delivery?.state === 'resolved';
}

function isTaken({ attempts }: ShownOperation): boolean {
  return attempts.some(({ result }) => result === 'accepted');
}
