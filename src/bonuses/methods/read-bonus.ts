import type { BonusCall, Bonuses } from '../context.ts';
import { type BonusResult, notDone, notFound, ok } from '../outcome.ts';
import { findBonus } from '../service/read-bonus.ts';
import { termsOf } from '../translation/bonus-terms.ts';
import { bonusFields } from '../translation/fields.ts';
import { treeText } from '../translation/json-tree.ts';
import { fieldsOf } from '../translation/read-fields.ts';
import { translate } from '../translation/translate.ts';

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
