import { askService, type BonusCall, type Bonuses } from '../context.ts';
import { bodyOf } from '../methods/request-body.ts';
import { termsFor } from '../translation/bonus-terms.ts';
import { idOf, type Json, treeOf } from '../translation/json-tree.ts';
import { owned } from '../translation/own-bonuses.ts';
import type { Terms } from '../translation/terms.ts';
import { type BonusApiAnswer, mayMeanMissing, saysMissing } from './answer.ts';

/** A bonus as the operator may know of it. */
export type FoundBonus =
  | { readonly kind: 'own'; readonly item: Json; readonly terms: Terms }
  /** Another operator's, or none at all: nothing may tell which (I8). */
  | { readonly kind: 'notOwn' }
  | {
      readonly kind: 'notAnswered';
      readonly answer: Exclude<BonusApiAnswer, { kind: 'answered' }>;
    };

/**
 * Asks the service for a bonus and finds out whose it is by its player. A foreign and a missing id
 * go the same way: the service is asked, players are looked up, nothing is kept. So they also take
 * the same time.
 * @param isKnown whether it is known to be the operator's; of any other id every refusal of the
 *   service means "not yours", because its reason would tell that the bonus exists; of a known one
 *   what the service cannot show is a fault and no missing bonus, which might be issued once more
 */
export async function findBonus(
  bonuses: Bonuses,
  call: BonusCall,
  bonusId: string,
  isKnown: boolean,
): Promise<FoundBonus> {
  const answer = await askService(bonuses, call, 'bonus', bodyOf(call, { bonusId }));
  const isNone = isKnown ? saysMissing(answer) : mayMeanMissing(answer);
  if (answer.kind !== 'answered' && !isNone) return { kind: 'notAnswered', answer };
  const item = answer.kind === 'answered' ? treeOf(answer.document) : NOBODYS;
  const terms = await termsFor(bonuses, call, item);
  if (isKnown && answer.kind === 'answered' && idOf(item, 'id') !== bonusId) {
    const error = 'it showed another bonus than it was asked for';
    return { kind: 'notAnswered', answer: { kind: 'failed', error } };
  }
  const [bonus] = owned({ kind: 'array', items: [item] }, terms);
  if (bonus?.bonusId !== bonusId) return { kind: 'notOwn' };
  await bonuses.ownership.recordBonuses(call.tenant, [bonus]);
  return { kind: 'own', item, terms };
}

/** Stands for a missing bonus: its player is looked up like that of one that is there. */
const NOBODYS: Json = {
  kind: 'object',
  members: [{ name: 'userId', value: { kind: 'text', value: ' ', raw: '" "' } }],
};
