import type { ShownBet, ShownOperation } from './bet.ts';

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
