import { askService, type BonusCall, type Bonuses, seesTemplate } from '../context.ts';
import { type BonusResult, invalid, NOTE_OPEN, notDone, notFound, ok } from '../outcome.ts';
import { translatedPage } from '../paging.ts';
import { mayBeDone, saysMissing } from '../service/answer.ts';
import { termsFor, termsOf } from '../translation/bonus-terms.ts';
import { applyBatchFields, fieldsOf } from '../translation/fields.ts';
import {
  entriesOf,
  idOf,
  type Json,
  memberOf,
  textNode,
  textOf,
  treeInSlices,
  treeOf,
} from '../translation/json-tree.ts';
import { isUuid } from '../translation/translate-text.ts';
import { bonusesIn, owned, playerOf } from '../translation/whose-bonus.ts';
import { intentFor, notConfirmed, recorded, repeatAnswer } from './intent-answers.ts';
import { bodyWith, contentOf, withMembers } from './request-body.ts';

/**
 * `POST /bonuses/bonus/applyBatch`. An intent for each (template, player) is committed before the service is
 * called. The same body is sent only once: a repeat gets the first answer.
 */
export async function applyBatch(bonuses: Bonuses, call: BonusCall): Promise<BonusResult> {
  const batch = readBatch(call);
  if (!('templateId' in batch)) return batch;
  const { templateId, operatorUsers } = batch;
  const content = contentOf(treeOf(call.document));
  const intent = intentFor(bonuses, call, content);
  // Before the operator's present limits: a repeat refused by those would look like a batch never made.
  const before = await bonuses.intents.findEqual(intent, 'apply');
  if (before !== undefined) return repeatAnswer(before);
  // Charged per player: each means a few rows, maybe a new player, and a bonus (I7).
  const limited = call.charge('entries', operatorUsers.length);
  if (limited !== undefined) return limited;
  const foreign = refuseCurrencies(call, batch);
  if (foreign !== undefined) return foreign;
  if (!(await seesTemplate(bonuses, call, templateId))) return notFound('template');

  // The aggregator's userId, given by mistake instead of the operator's id, would create a new player.
  const given = await bonuses.players.mistakenFor(call.operator.id, operatorUsers);
  const mistaken = operatorUsers.findIndex((user) => given.has(user));
  if (mistaken >= 0) {
    const field = `playersData.${mistaken}.userId`;
    return invalid(`${field}: is the id that the gateway gave this player, send your own`);
  }

  const userIds = await bonuses.players.ensureAll(call.operator.id, operatorUsers);
  const begun = await bonuses.intents.beginApply(intent, templateId, [...userIds.values()]);
  if (begun.kind !== 'begun') return repeatAnswer(begun);

  const known = new Map([...userIds].map(([user, userId]) => [userId, user]));
  const sent = inServiceTerms(call, content, templateId, userIds);
  const answer = await askService(bonuses, call, 'bonus/applyBatch', sent);
  if (answer.kind === 'answered') {
    const answered = await treeInSlices(answer.document);
    return await applied(bonuses, call, begun.intentId, answered, { templateId, known });
  }
  const result = await notConfirmed(bonuses, begun.intentId, answer, termsOf(call, known));
  return saysMissing(answer) && !mayBeDone(answer) ? notFound('template') : result;
}

interface Batch {
  readonly templateId: string;
  readonly operatorUsers: readonly string[];
  /** One per player, in order. */
  readonly currencies: readonly string[];
}

function readBatch(call: BonusCall): Batch | BonusResult {
  const read = fieldsOf(applyBatchFields, call.document);
  if (!('fields' in read)) return read;
  const { templateId, playersData } = read.fields;
  return {
    templateId: String(templateId),
    operatorUsers: playersData.map(({ userId }) => userId),
    currencies: playersData.map(({ currency }) => currency),
  };
}

function refuseCurrencies(call: BonusCall, batch: Batch): BonusResult | undefined {
  const { currencies } = call.operator;
  const foreign = batch.currencies.findIndex((currency) => !currencies.includes(currency));
  if (foreign < 0) return undefined;
  return invalid(`playersData.${foreign}.currency: must be one of ${currencies.join(', ')}`);
}

/** The same batch with the aggregator's ids; amounts keep their exact text. */
function inServiceTerms(
  call: BonusCall,
  content: Json,
  templateId: string,
  userIds: ReadonlyMap<string, string>,
): string {
  const players = bonusesIn(memberOf(content, 'playersData')).map((entry) =>
    withMembers(entry, { userId: textNode(userIds.get(textOf(entry, 'userId') ?? '') ?? '') }),
  );
  const translated = withMembers(content, {
    templateId: { kind: 'number', raw: templateId },
    playersData: { kind: 'array', items: players },
  });
  return bodyWith(call, translated);
}

/** If every player is refused the service may omit the items; otherwise an answer without items says nothing. */
function withItems(answered: Json, players: number): Json {
  const items = memberOf(answered, 'items');
  const isNone = items === undefined || (items.kind === 'word' && items.raw === 'null');
  const refused = entriesOf(memberOf(answered, 'errorItems')).length;
  if (answered.kind !== 'object' || !isNone || refused < players) return answered;
  const others = answered.members.filter(({ name }) => name !== 'items');
  return {
    kind: 'object',
    members: [{ name: 'items', value: { kind: 'object', members: [] } }, ...others],
  };
}

/** A batch as the service was asked for it. */
interface SentBatch {
  readonly templateId: string;
  /** Its players, from the aggregator's ids to the operator's. */
  readonly known: ReadonlyMap<string, string>;
}

/** How many entries are not about this batch; 0 if it covers all players. Otherwise it answers another call. */
function strayEntries(answered: Json, { templateId, known }: SentBatch): number {
  const players = new Set<string>();
  let nameless = 0;
  let stray = 0;
  const count = (player: string | undefined, isOfTemplate: boolean) => {
    if (!isOfTemplate) stray += 1;
    else if (player === undefined) nameless += 1;
    else if (known.has(player)) players.add(player);
    else stray += 1;
  };
  for (const bonus of bonusesIn(memberOf(answered, 'items'))) {
    const player = playerOf(bonus);
    // One that names neither is no bonus.
    const template = idOf(bonus, 'templateId') ?? (player === undefined ? undefined : templateId);
    count(player, template === templateId);
  }
  // What an entry holds is not documented: one that names nobody may be about anybody.
  const refused = refusedPlayers(memberOf(answered, 'errorItems'), known);
  for (const player of refused) count(player, true);
  return players.size + nameless >= known.size ? 0 : stray;
}

/** Whom each refusal names: a list may also be keyed by player. */
function refusedPlayers(
  list: Json | undefined,
  known: ReadonlyMap<string, string>,
): readonly (string | undefined)[] {
  const keys = list?.kind === 'object' ? list.members.map(({ name }) => name) : [];
  return entriesOf(list).map((entry, at) => {
    const key = keys[at] ?? '';
    const player = playerOf(entry) ?? (isUuid(key) ? key : undefined);
    return player !== undefined && !known.has(player) ? player.toLowerCase() : player;
  });
}

async function applied(
  bonuses: Bonuses,
  call: BonusCall,
  intentId: string,
  received: Json,
  batch: SentBatch,
): Promise<BonusResult> {
  const { known } = batch;
  return await recorded(bonuses, call, termsOf(call, known), async () => {
    const answered = withItems(received, known.size);
    const terms = await termsFor(bonuses, call, answered, known);
    const items = memberOf(answered, 'items');
    if (items === undefined || (items.kind !== 'object' && items.kind !== 'array')) {
      return notDone({ kind: 'failed', error: 'no items' }, terms, NOTE_OPEN);
    }
    const stray = strayEntries(answered, batch);
    const issued = owned(items, terms);
    const foreign = stray === 0 ? bonusesIn(items).length - issued.length : stray;
    if (foreign > 0) {
      bonuses.logger.error({ operator: call.operator.id, foreign }, 'bonus.foreign_items_dropped');
    }
    if (stray > 0) {
      return notDone({ kind: 'failed', error: 'the answer to another batch' }, terms, NOTE_OPEN);
    }
    const answer = { status: 200, body: await translatedPage(answered, terms) };
    const refused = entriesOf(memberOf(answered, 'errorItems')).length;
    if (entriesOf(items).length === 0 && refused >= known.size) {
      // Everybody was refused: kept, this would be the answer for months after its cause is gone.
      await bonuses.intents.fail(intentId, 'nothing issued');
      return ok(answer.body);
    }
    await bonuses.intents.finishApply(call.tenant, intentId, issued, answer);
    return ok(answer.body);
  });
}
