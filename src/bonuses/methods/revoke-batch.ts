import { CODES } from '../../domain/codes.ts';
import { mapLimited } from '../../lib/map-limited.ts';
import { LOOKS_MAX } from '../../operators/limits.ts';
import { jsonString, parseJsonObject } from '../../protocol/json.ts';
import { askService, type BonusCall, type Bonuses } from '../context.ts';
import { type BonusResult, invalid, notDone, ok } from '../outcome.ts';
import { translatedPage } from '../paging.ts';
import { termsFor, termsOf } from '../translation/bonus-terms.ts';
import { fieldsOf, revokeBatchFields } from '../translation/fields.ts';
import {
  entriesOf,
  type Json,
  memberOf,
  treeInSlices,
  treeOf,
  treeText,
} from '../translation/json-tree.ts';
import { findBonus } from './read-bonus.ts';
import { bodyOf } from './request-body.ts';

/** How many unknown ids are looked up at the service at a time. */
const LOOKS_AT_ONCE = 8;

/**
 * `POST /bonuses/bonus/revokeBatch`. Only the operator's own bonuses are sent; each other id is an entry
 * of `errorItems` (I8).
 */
export async function revokeBatch(bonuses: Bonuses, call: BonusCall): Promise<BonusResult> {
  const read = fieldsOf(revokeBatchFields, call.document);
  if (!('fields' in read)) return read;
  const ids = [...new Set(read.fields.bonusesIds.map(String))];
  const limited = call.charge('entries', ids.length);
  if (limited !== undefined) return limited;
  const sorted = await sortOut(bonuses, call, ids);
  if (!('own' in sorted)) return sorted;
  const { own, others } = sorted;
  const result = own.length === 0 ? NOTHING_REVOKED : await revoke(bonuses, call, own);
  if (!('answer' in result)) return withOthers(result.answered, others);
  return result;
}

interface Sorted {
  readonly own: readonly string[];
  readonly others: readonly string[];
}

/** Determines which ids are the operator's, in the given order. */
async function sortOut(
  bonuses: Bonuses,
  call: BonusCall,
  ids: readonly string[],
): Promise<Sorted | BonusResult> {
  if (call.account.exclusive) return { own: ids, others: [] };
  const known = await bonuses.ownership.ownBonuses(call.tenant, ids);
  const unknown = ids.filter((bonusId) => !known.has(bonusId));
  const tooMany = refuseReadings(call, unknown.length);
  if (tooMany !== undefined) return tooMany;
  const found = await mapLimited(unknown, LOOKS_AT_ONCE, async (bonusId) => ({
    bonusId,
    found: await findBonus(bonuses, call, bonusId, false),
  }));
  const others = new Set<string>();
  for (const { bonusId, found: one } of found) {
    if (one.kind === 'notAnswered') return notDone(one.answer, termsOf(call));
    if (one.kind === 'notOwn') others.add(bonusId);
  }
  return {
    own: ids.filter((bonusId) => !others.has(bonusId)),
    others: ids.filter((bonusId) => others.has(bonusId)),
  };
}

/** The 429 if too many ids are unknown: each costs a call to the service, which all operators share (I7). */
function refuseReadings(call: BonusCall, count: number): BonusResult | undefined {
  if (count === 0) return undefined;
  if (count > LOOKS_MAX) {
    return invalid(
      `bonusesIds: ${count} are not known here, of which ${LOOKS_MAX} may stand in one call`,
    );
  }
  return call.charge('looks', count);
}

const NOTE_HARMLESS = 'repeating the call does no harm';

/** The service's answer to a revocation, in the operator's terms. */
interface Revoked {
  readonly answered: string;
}

const NOTHING_REVOKED: Revoked = { answered: '{"items":{},"errorItems":[]}' };

async function revoke(
  bonuses: Bonuses,
  call: BonusCall,
  bonusIds: readonly string[],
): Promise<Revoked | BonusResult> {
  const body = bodyOf(call, { bonusesIds: `[${bonusIds.join(',')}]` });
  const answer = await askService(bonuses, call, 'bonus/revokeBatch', body);
  if (answer.kind !== 'answered') return notDone(answer, termsOf(call), NOTE_HARMLESS);
  const tree = await treeInSlices(answer.document);
  return { answered: await translatedPage(tree, await termsFor(bonuses, call, tree)) };
}

function withOthers(answered: string, others: readonly string[]): BonusResult {
  if (others.length === 0) return ok(answered);
  const document = parseJsonObject(Buffer.from(answered));
  const before = memberOf(treeOf(document), 'errorItems');
  const text = document.replace({ errorItems: withEntries(before, others) });
  return { ...ok(text), denied: true };
}

/** Keyed if the service keyed its entries, such as by bonus id. */
function withEntries(before: Json | undefined, others: readonly string[]): string {
  const isKeyed = before?.kind === 'object' && before.members.length > 0;
  if (!isKeyed) {
    return `[${[...entriesOf(before).map(treeText), ...others.map(refusedEntry)].join(',')}]`;
  }
  const keyed = others.map((bonusId) => `${jsonString(bonusId)}:${refusedEntry(bonusId)}`);
  return `${treeText(before).slice(0, -1)},${keyed.join(',')}}`;
}

function refusedEntry(bonusId: string): string {
  return `{"bonusId":${bonusId},"code":${CODES.notFound},"message":"No such bonus"}`;
}
