import { jsonString } from '../../protocol/json.ts';
import { askService, type BonusCall, type Bonuses } from '../context.ts';
import { type BonusResult, notDone, ok } from '../outcome.ts';
import { pageText, translatedPage } from '../paging.ts';
import { playerOf, termsFor, termsOf } from '../translation/bonus-terms.ts';
import { playerBonusesFields } from '../translation/fields.ts';
import { entriesOf, idOf, type Json, memberOf, treeInSlices } from '../translation/json-tree.ts';
import { owned } from '../translation/own-bonuses.ts';
import { fieldsOf } from '../translation/read-fields.ts';
import { bodyOf, withMembers } from './request-body.ts';

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
  const list = onlyOf(userId, await treeInSlices(answer.document));
  if (list === undefined) {
    const error = 'it showed the bonuses of others than it was asked for';
    return notDone({ kind: 'failed', error }, termsOf(call, known));
  }
  const terms = await termsFor(bonuses, call, list, known);
  await bonuses.ownership.recordBonuses(call.tenant, owned(memberOf(list, 'items'), terms));
  return ok(await translatedPage(list, terms));
}

/**
 * The list without entries that are not this player's. Undefined if no other is in it: then it is the answer to another
 * question, and an empty list would mean a player without bonuses, to whom they might be issued again.
 */
function onlyOf(userId: string, list: Json): Json | undefined {
  const items = memberOf(list, 'items');
  const all = entriesOf(items);
  const own = all.filter((item) => isOf(userId, item));
  if (own.length === all.length) return list;
  return own.length === 0 ? undefined : withMembers(list, { items: { kind: 'array', items: own } });
}

/** A bonus that names nobody is the player's who was asked for; a template has no `templateId`. */
function isOf(userId: string, item: Json): boolean {
  const player = playerOf(item);
  return player === undefined ? idOf(item, 'templateId') !== undefined : player === userId;
}
