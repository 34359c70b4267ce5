import { jsonString } from '../../protocol/json.ts';
import { askService, type BonusCall, type Bonuses } from '../context.ts';
import { type BonusResult, notDone, ok } from '../outcome.ts';
import { pageText, totalPages, translatedPage } from '../paging.ts';
import { termsFor, termsOf } from '../translation/bonus-terms.ts';
import { fieldsOf, playerBonusesFields } from '../translation/fields.ts';
import { entriesOf, idOf, type Json, memberOf, treeInSlices } from '../translation/json-tree.ts';
import { bonusesOf, owned } from '../translation/whose-bonus.ts';
import { bodyOf, withMembers } from './request-body.ts';

/** `POST /bonuses/player/bonuses`. A player not mentioned before has no bonuses, and is not created. */
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
  const listed = await treeInSlices(answer.document);
  const own = bonusesOf(userId, listed);
  if (own === undefined) {
    const error = 'it showed the bonuses of others than it was asked for';
    return notDone({ kind: 'failed', error }, termsOf(call, known));
  }
  const list = withItems(listed, inOrder(listed, own));
  const terms = await termsFor(bonuses, call, list, known);
  await bonuses.ownership.recordBonuses(call.tenant, owned(memberOf(list, 'items'), terms));
  return ok(await translatedPage(list, terms));
}

/** Oldest first, by their ids. Entries without an id, and the order of pages, stay as the service sent them. */
function inOrder(listed: Json, own: readonly Json[]): readonly Json[] {
  const ids = own.map((bonus) => idOf(bonus, 'id'));
  const isWholeList = memberOf(listed, 'items')?.kind === 'array' && totalPages(listed) === 1;
  if (!isWholeList || ids.includes(undefined)) return own;
  return own.toSorted((one, other) => (numberOf(one) < numberOf(other) ? -1 : 1));
}

function numberOf(bonus: Json): bigint {
  return BigInt(idOf(bonus, 'id') ?? 0);
}

/** The list with these entries and no others. */
function withItems(list: Json, own: readonly Json[]): Json {
  const entries = entriesOf(memberOf(list, 'items'));
  if (entries.length === own.length && entries.every((one, at) => one === own[at])) return list;
  return withMembers(list, { items: { kind: 'array', items: own } });
}
