import type { BonusCall, Bonuses } from './context.ts';
import { bonusFields } from './fields.ts';
import { treeText } from './json-tree.ts';
import { notDone, notFound, ok, type Told } from './outcome.ts';
import { fieldsOf } from './read-fields.ts';
import { findBonus } from './service-bonus.ts';
import { termsOf } from './terms.ts';
import { translate } from './translate.ts';

/** `POST /bonuses/bonus`. */
export async function readBonus(bonuses: Bonuses, call: BonusCall): Promise<Told> {
  const read = fieldsOf(bonusFields, call.document);
  if (!('fields' in read)) return read;
  const bonusId = String(read.fields.bonusId);
  const known = await bonuses.ownership.ownBonuses(call.tenant, [bonusId]);
  const isKnown = call.account.exclusive || known.has(bonusId);
  const found = await findBonus(bonuses, call, bonusId, isKnown);
  if (found.kind === 'notAnswered') return notDone(found.answer, termsOf(call));
  if (found.kind === 'notOwn') return notFound('bonus');
  const told = translate(found.item, found.terms, 'item');
  return told === undefined ? notFound('bonus') : ok(treeText(told));
}
