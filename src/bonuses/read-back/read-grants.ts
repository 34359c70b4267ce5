import { Slices } from '../../lib/slices.ts';
import { jsonString, parseJsonObject } from '../../protocol/json.ts';
import type { OpenGrant } from '../../store/bonuses/grants.ts';
import { totalPages, translatedPage } from '../paging.ts';
import { ANSWER_BYTES_MAX } from '../service/client.ts';
import { termsFor } from '../translation/bonus-terms.ts';
import { idOf, type Json, treeInSlices, treeOf, treeText } from '../translation/json-tree.ts';
import { bonusesOf } from '../translation/whose-bonus.ts';
import {
  leaseMs,
  RETRY_MS,
  type ReadingBack,
  readableCids,
  readPage,
  timeoutMs,
} from './reader.ts';

/** After this many complete reads of the player's bonuses and this many request timeouts, a bonus counts as absent. */
const LOOKS_MIN = 2;
const PATIENCE_FACTOR = 2;
/** Delay between two looks. */
const LOOK_MS = 1_000;

/**
 * Reads one page of a player's bonuses if an unanswered batch left the outcome open.
 * @returns whether there was something to do
 */
export async function readGrants(reading: ReadingBack): Promise<boolean> {
  const { grants, accounts } = reading;
  const grant = await grants.claim(readableCids(reading), leaseMs(reading));
  if (grant === undefined) return false;
  const account = accounts.byCid(grant.upstreamCid);
  if (account === undefined) return false;

  const { upstreamCid, userId, page } = grant;
  const cid = jsonString(upstreamCid);
  const body = `{"cid":${cid},"userId":${jsonString(userId)},"page":${page}}`;
  const read = await readPage(reading, account, 'player/bonuses', body);
  if (read.kind !== 'read') {
    const next = read.kind === 'refused' ? 1 : page;
    await grants.readAgain(grant.id, { page: next, looks: grant.looks, delayMs: RETRY_MS });
    return true;
  }
  if (await settle(reading, grant, read.answer)) await closeBatch(reading, grant.intentId);
  return true;
}

/** Closes batches whose closing was interrupted by a crash. */
export async function closeLeftOpen(reading: ReadingBack): Promise<void> {
  for (const intentId of await reading.grants.leftOpen()) await closeBatch(reading, intentId);
}

/** @returns whether the grant's outcome is known now */
async function settle(reading: ReadingBack, grant: OpenGrant, answer: Json): Promise<boolean> {
  const { grants } = reading;
  const own = bonusesOf(grant.userId, answer);
  if (own === undefined) {
    await grants.readAgain(grant.id, {
      page: grant.page,
      looks: grant.looks,
      delayMs: RETRY_MS,
    });
    return false;
  }
  const bonus = own.find((item) => idOf(item, 'templateId') === grant.templateId);
  const bonusId = idOf(bonus, 'id');
  if (bonus !== undefined && bonusId !== undefined) {
    await grants.found(grant, bonusId, treeText(bonus));
    return true;
  }
  const isDeciding = decides(grant, timeoutMs(reading));
  if (own.length > 0 && grant.page < totalPages(answer)) {
    const looks = isDeciding ? LOOKS_MIN : grant.looks;
    await grants.readAgain(grant.id, { page: grant.page + 1, looks, delayMs: 0 });
    return false;
  }
  if (isDeciding) {
    await grants.absent(grant.id);
    return true;
  }
  await grants.readAgain(grant.id, { page: 1, looks: LOOKS_MIN - 1, delayMs: LOOK_MS });
  return false;
}

/** Whether this reading decides: one that began too early may miss what the service issued meanwhile. */
function decides({ page, looks, ageMs }: OpenGrant, requestMs: number): boolean {
  const isOld = ageMs >= requestMs * PATIENCE_FACTOR;
  return isOld && looks >= (page === 1 ? LOOKS_MIN - 1 : LOOKS_MIN);
}

/** If all bonuses were found, the answer is the service's. Otherwise the batch may be sent again. */
async function closeBatch(reading: ReadingBack, intentId: string): Promise<void> {
  const { grants, intents, configuration, accounts, logger } = reading;
  const batch = await grants.settled(intentId, ANSWER_BYTES_MAX);
  if (batch === undefined) return;
  const { operatorId, upstreamCid, items } = batch;
  const operator = configuration().operators.get(operatorId);
  const account = accounts.byCid(upstreamCid);
  if (operator === undefined || account === undefined) return;
  const answer = items && (await answerText(items));
  if (answer === undefined) {
    await intents.fail(intentId, 'not all of it arrived, or too much');
    logger.info({ operator: operatorId, intent: intentId }, 'bonus.batch_incomplete');
    return;
  }
  const answered = await treeInSlices(parseJsonObject(Buffer.from(answer)));
  const body = await translatedPage(
    answered,
    await termsFor(reading, { operator, account }, answered),
  );
  await intents.finishApply({ operatorId, upstreamCid }, intentId, [], { status: 200, body });
  logger.info({ operator: operatorId, intent: intentId }, 'bonus.batch_found');
}

/** The answer that the service would have given; undefined if it showed one bonus id for two players. */
async function answerText(items: readonly string[]): Promise<string | undefined> {
  const ids = new Set<string>();
  const members = await new Slices().map(items, (item) => {
    const id = idOf(treeOf(parseJsonObject(Buffer.from(item))), 'id') ?? '';
    ids.add(id);
    return `"${id}":${item}`;
  });
  if (ids.size < items.length) return undefined;
  return `{"items":{${members.join(',')}},"errorItems":[]}`;
}
