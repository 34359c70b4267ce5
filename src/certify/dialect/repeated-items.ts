import { LEGACY_SIGN_CASE, type Passed } from '../pass.ts';
import type { Evidence } from './suggestions.ts';

/*
 * Items of the dialect that no single answer can show: they change what the gateway sends.
 */

const REPEATED_ANEW = 'settle-repeat';
const REPEATED_SAME = 'settle-repeat-same-request';

/** `legacySign`: nothing was accepted without it. */
export const LEGACY_SIGN_FOUND: Evidence = found(LEGACY_SIGN_CASE, {
  dialect: { legacySign: true },
  why: 'nothing was accepted until the header x-sign was sent as well',
});

/** `stableRequestId`: paid again under a new requestId, but not under the first one. */
export function stableRequestIdItem({ evidence }: Passed): readonly Evidence[] {
  const isWrong = (id: string) => evidence.find(({ caseId }) => caseId === id)?.booksWrong;
  if (isWrong(REPEATED_ANEW) !== true || isWrong(REPEATED_SAME) !== false) return [];
  const why = 'a settle repeated under a new requestId paid again, under the first one it did not';
  return [found(REPEATED_ANEW, { dialect: { stableRequestId: true }, why })];
}

/** Each case with its counterpart without a repeat: if that is wrong too, the repeat is not the reason. */
const ONCE: Readonly<Record<string, string>> = {
  'settle-repeat': 'settle-won',
  'settle-repeat-same-request': 'settle-won',
  'settle-late-repeat': 'settle-won',
  'settle-repeat-concurrent': 'settle-won',
  'settle-cashout-repeat': 'settle-cashout',
  'settle-lost-repeat': 'settle-lost',
  'settle-refund-repeat': 'settle-refund',
  'settle-corrected-repeat': 'resettle-up',
  'settle-corrected-concurrent': 'resettle-up',
  'settle-second-repeat': 'unsettle-settle-again',
  'update-settle-repeat': 'update-after-settle',
  'freebet-settle-repeat': 'freebet-won',
  'unsettle-twice': 'unsettle-won',
  'unsettle-concurrent': 'unsettle-won',
  'unsettle-other-twice': 'unsettle-refund',
};

/** `unknownRepeats: hold`: a repeat paid again, so repeats are left to a person. */
export function holdItem({ evidence }: Passed): readonly Evidence[] {
  const isWrong = (id: string | undefined) =>
    evidence.some(({ caseId, booksWrong }) => caseId === id && booksWrong);
  return evidence
    .filter(({ caseId }) => caseId in ONCE && isWrong(caseId) && !isWrong(ONCE[caseId]))
    .map(({ caseId }) =>
      found(caseId, {
        dialect: { unknownRepeats: 'hold' },
        why: 'a settle or unsettle that was sent again moved money again',
      }),
    );
}

function found(caseId: string, item: Evidence['triedItems'][number]): Evidence {
  return { caseId, recordedCalls: [], booksWrong: false, booksProven: false, triedItems: [item] };
}
