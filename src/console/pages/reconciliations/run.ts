import type { Answers } from '../../api/wire.ts';

type Run = Answers['GET /admin/reconciliations/:id'];

export const RUN_TONES = {
  reading: 'info',
  comparing: 'info',
  done: 'good',
  failed: 'bad',
} as const satisfies Record<Run['state'], string>;

/** How many differences a person still has to resolve; undefined until it is known. */
export function openCount({ open }: Run): number | undefined {
  return open === null ? undefined : Object.values(open).reduce((sum, count) => sum + count, 0);
}
