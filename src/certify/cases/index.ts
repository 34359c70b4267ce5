import type { Case } from '../case.ts';
import { afterRollbackCases } from './after-rollback.ts';
import { balanceCases } from './balance.ts';
import { besideReadsCases, besideUpdatesCases } from './beside-bets.ts';
import { betKindCases } from './bet-kinds.ts';
import { currencyCases } from './currencies.ts';
import { freebetCases } from './freebet.ts';
import { latencyCases } from './latency.ts';
import { placeCases } from './place.ts';
import { placeDuplicateCases } from './place-duplicates.ts';
import { profileCases } from './profile.ts';
import { resettleCases } from './resettle.ts';
import { rollbackCases } from './rollback.ts';
import { settleCases } from './settle.ts';
import { settleRepeatCases } from './settle-repeats.ts';
import { shapeCases } from './shape.ts';
import { answerCases } from './shape-answers.ts';
import { signatureCases } from './signatures.ts';
import { unsettleCases } from './unsettle.ts';
import { updateCases } from './update.ts';

/** Every case, in the order in which they run (see `GROUPS`). */
export const CASES: readonly Case[] = [
  ...signatureCases,
  ...profileCases,
  ...balanceCases,
  ...placeCases,
  ...placeDuplicateCases,
  ...besideReadsCases,
  ...settleCases,
  ...settleRepeatCases,
  ...resettleCases,
  ...unsettleCases,
  ...rollbackCases,
  ...afterRollbackCases,
  ...updateCases,
  ...besideUpdatesCases,
  ...freebetCases,
  ...latencyCases,
  ...currencyCases,
  ...shapeCases,
  ...betKindCases,
  ...answerCases,
];
