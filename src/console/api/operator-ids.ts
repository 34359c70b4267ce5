import type { Answers } from './wire.ts';

/** Every operator that may have bets or deliveries, including those whose file is gone. */
export function operatorIds({
  items,
  withoutFile,
}: Answers['GET /admin/operators']): readonly string[] {
  return [...items, ...withoutFile].map(({ id }) => id);
}
