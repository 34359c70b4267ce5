import type { Answers } from '../../api/wire.ts';

type Run = Answers['GET /admin/reconciliations/:id'];

export const RUN_TONES = {
  reading: 'info',
  comparing: 'info',
  done: 'good',
  failed: 'bad',
} as const satisfies Record<Run['state'], string>;

/** How many differences wait for a person; undefined until it is known. */
export function openCount({ open }: Run): number | undefined {
  if (open === null) return undefined;
  return Object.entries(open).reduce(
    (sum, [kind, count]) => (kind === 'agree' ? sum : sum + count),
    0,
  );
}
