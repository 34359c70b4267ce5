import { askService, type BonusCall, type Bonuses } from '../context.ts';
import { type BonusResult, notDone, notFound, ok } from '../outcome.ts';
import { mayMeanMissing, type NotAnswered, saysMissing } from '../service/answer.ts';
import { termsFor, termsOf } from '../translation/bonus-terms.ts';
import { bonusFields, fieldsOf } from '../translation/fields.ts';
import { idOf, type Json, treeOf, treeText } from '../translation/json-tree.ts';
import type { Terms } from '../translation/terms.ts';
import { translate } from '../translation/translate.ts';
import { owned } from '../translation/whose-bonus.ts';
import { bodyOf } from './request-body.ts';

/** `POST /bonuses/bonus`. */
export async function readBonus(bonuses: Bonuses, call: BonusCall): Promise<BonusResult> {
  const read = fieldsOf(bonusFields, call.document);
  if (!('fields' in read)) return read;
  const bonusId = String(read.fields.bonusId);
  const known = await bonuses.ownership.ownBonuses(call.tenant, [bonusId]);
  const isKnown = call.account.exclusive || known.has(bonusId);
  const found = await findBonus(bonuses, call, bonusId, isKnown);
  if (found.kind === 'notAnswered') return notDone(found.answer, termsOf(call));
  if (found.kind === 'notOwn') return notFound('bonus');
  const translated = translate(found.item, found.terms, 'item');
  return translated === undefined ? notFound('bonus') : ok(treeText(translated));
}

/** A bonus, as far as the operator may see it. */
type FoundBonus =
  | { readonly kind: 'own'; readonly item: Json; readonly terms: Terms }
  /** Another operator's or missing: nothing may reveal which (I8). */
  | { readonly kind: 'notOwn' }
  | { readonly kind: 'notAnswered'; readonly answer: NotAnswered };

/**
 * Reads a bonus from the service and determines its owner by its player. A foreign and a missing id take the
 * same path, and the same time.
 * @param isKnown whether it is known to be the operator's: only then is a refusal a fault, and not "not yours"
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

/** Stands in for a missing bonus, so that a player is looked up as for an existing one. */
const NOBODYS: Json = {
  kind: 'object',
  members: [{ name: 'userId', value: { kind: 'text', value: ' ', raw: '" "' } }],
};
