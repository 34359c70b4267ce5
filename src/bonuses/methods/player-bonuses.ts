import { jsonString } from '../../protocol/json.ts';
import { askService, type BonusCall, type Bonuses } from '../context.ts';
import { type BonusResult, notDone, ok } from '../outcome.ts';
import { pageText, translatedPage } from '../paging.ts';
import { termsFor, termsOf } from '../translation/bonus-terms.ts';
import { playerBonusesFields } from '../translation/fields.ts';
import { memberOf, treeInSlices } from '../translation/json-tree.ts';
import { owned } from '../translation/own-bonuses.ts';
import { fieldsOf } from '../translation/read-fields.ts';
import { bodyOf } from './request-body.ts';

/**
 * `POST /bonuses/player/bonuses`. A player not mentioned before has no bonuses, and is not created by
 * this request.
 */
export async function listPlayerBonuses(bonuses: Bonuses, call: BonusCall): Promise<BonusResult> {
  const read = fieldsOf(playerBonusesFields, call.document);
  if (!('fields' in read)) return read;
  const { page, userId: operatorUser } = read.fields;
  const userId = await bonuses.players.find(call.operator.id, operatorUser);
  if (userId === undefined) return ok(pageText('[]', { totalItems: 0, page }));

  const known = new Map([[userId, operatorUser]]);
  const body = bodyOf(call, { userId: jsonString(userId), page: String(page) });
  const answer = await askService(bonuses, call, 'player/bonuses', body);
  if (answer.kind !== 'answered') return notDone(answer, termsOf(call, known));
  const list = await treeInSlices(answer.document);
  const terms = await termsFor(bonuses, call, list, known);
  await bonuses.ownership.recordBonuses(call.tenant, owned(memberOf(list, 'items'), terms));
  return ok(await translatedPage(list, terms));
}
