import { membersOf } from '../../parts/exact-json.ts';
import type { ShownBet } from './bet.ts';

/**
 * What the wallet refused last, if that was what the service sent last about the bet's result: the kind of that
 * result, or `unsettle`. The service was told so, and does not repeat it by itself.
 */
export function refusedResult({ operations }: ShownBet): string | undefined {
  const last = operations.findLast(
    ({ operation }) => operation === 'settle' || operation === 'unsettle',
  );
  const isRefused = last?.answer?.status === 400 && last.attempts.at(-1)?.result === 'declined';
  if (!isRefused) return undefined;
  return last.operation === 'unsettle' ? 'unsettle' : (membersOf(last.request).resultType ?? '');
}
