import { Slices } from '../../lib/slices.ts';
import { parseJsonObject } from '../../protocol/json.ts';
import type { Candidate, OpenCreate } from '../../store/bonuses/open-creates.ts';
import type { ClaimedPage } from '../../store/bonuses/walks.ts';
import type { Account } from '../service/account.ts';
import { termsFor } from '../translation/bonus-terms.ts';
import { type Json, treeOf, treeText } from '../translation/json-tree.ts';
import { translate } from '../translation/translate.ts';
import { type ReadingBack, timeoutMs } from './reader.ts';
import {
  factsOfCreate,
  factsOfTemplate,
  isAsEnabled,
  mayComeFrom,
  type TemplateFacts,
} from './template-match.ts';

/** After this many complete walks and this many request timeouts, a create that was not found never arrived. */
const LOOKS_MIN = 2;
const PATIENCE_FACTOR = 2;
/** The interval between looks: short at first, then longer and longer, because a person may have to decide. */
const LOOK_MS_MIN = 1_000;
const LOOK_MS_MAX = 60_000;

/**
 * Decides which templates open creates have become, after a complete walk. A template is given to a create only
 * if neither can match another one. Candidates are read before creates, so that every create is known.
 */
export async function settleCreates(
  reading: ReadingBack,
  account: Account,
  walk: ClaimedPage,
): Promise<void> {
  const first = await reading.openCreates.of(walk);
  if (first.length === 0) return;
  const aboveId = first.map((create) => BigInt(create.aboveId)).reduce((a, b) => (a < b ? a : b));
  const candidates = await reading.openCreates.candidates(account.cid, String(aboveId));
  const creates = await reading.openCreates.of(walk);
  await readFacts(candidates, creates);
  const taken = new Set<string>();
  const settled = new Set<string>();
  for (const { create, fitting } of inOrder(creates, candidates)) {
    const own = fitting.filter(({ templateId }) => !taken.has(templateId));
    const rivals = creates.filter(({ id }) => id !== create.id && !settled.has(id));
    const template = await settle(reading, account, create, own, rivals);
    if (template === undefined) continue;
    taken.add(template.templateId);
    settled.add(create.id);
  }
}

/** Creates that a person has decided come first; then those whose template is switched as they asked. */
function inOrder(
  creates: readonly OpenCreate[],
  candidates: readonly Candidate[],
): readonly { readonly create: OpenCreate; readonly fitting: readonly Candidate[] }[] {
  const due = creates.filter(({ isDue }) => isDue);
  const ranked = due.map((create) => {
    const fitting = fittingFirst(candidates, create);
    const [first] = fitting;
    const isDecided = fitting.some(({ assignedTo }) => assignedTo !== undefined);
    const isExact = first !== undefined && isAsEnabled(factsOnce(first), factsOnce(create));
    return { create, fitting, rank: (isDecided ? 0 : 2) + (isExact ? 0 : 1) };
  });
  return ranked.sort((one, other) => one.rank - other.rank);
}

/** The templates that may come from a create, oldest first, but those before the others that are switched as it asked. */
function fittingFirst(candidates: readonly Candidate[], create: OpenCreate): readonly Candidate[] {
  const own = candidates.filter((candidate) => fits(candidate, create));
  const { exact = [], other = [] } = Object.groupBy(own, (candidate) =>
    isAsEnabled(factsOnce(candidate), factsOnce(create)) ? 'exact' : 'other',
  );
  return [...exact, ...other];
}

/** Whether a template may come from a create. */
function fits(candidate: Candidate, create: OpenCreate): boolean {
  const { templateId, assignedTo } = candidate;
  if (assignedTo !== undefined && assignedTo !== create.operatorId) return false;
  if (BigInt(templateId) <= BigInt(create.aboveId)) return false;
  return mayComeFrom(factsOnce(candidate), factsOnce(create));
}

/** @returns the create's template, if that is clear now */
async function settle(
  reading: ReadingBack,
  account: Account,
  create: OpenCreate,
  candidates: readonly Candidate[],
  rivals: readonly OpenCreate[],
): Promise<Candidate | undefined> {
  const { openCreates, intents, logger } = reading;
  const facts = { operator: create.operatorId, intent: create.id };
  const [only] = candidates;
  if (only === undefined) {
    const waited = create.ageMs >= timeoutMs(reading) * PATIENCE_FACTOR;
    if (waited && create.passes + 1 >= LOOKS_MIN) {
      await intents.fail(create.id, 'never arrived');
      logger.info(facts, 'bonus.create_never_arrived');
    } else {
      await openCreates.readAgain(create, nextReadingMs(create.passes), false);
    }
    return undefined;
  }
  const clear = isAlone(reading, account, create)
    ? oldestOf(
        candidates,
        rivals.filter((rival) => isUnderWay(rival) || isForeign(rival, create)),
      )
    : clearOf(candidates, rivals);
  if (clear !== undefined) {
    await take(reading, account, create, clear);
    return clear;
  }
  // A request under way may still settle it: a person is needed only if all rival requests have ended.
  const underWay = rivals.filter(isUnderWay);
  const isStuck = !underWay.some((rival) => candidates.some((one) => fits(one, rival)));
  if (isStuck && !create.ambiguous) {
    const templates = candidates.map(({ templateId }) => templateId);
    const note = 'assign one of these templates';
    logger.warn({ ...facts, templates, note }, 'bonus.create_ambiguous');
  }
  await openCreates.readAgain(create, nextReadingMs(create.passes), isStuck);
  return undefined;
}

/** The template that can be no other create's. */
function clearOf(
  candidates: readonly Candidate[],
  rivals: readonly OpenCreate[],
): Candidate | undefined {
  // A template that a person has assigned to this operator can be no other's. Of several, one is as good as another.
  const assigned = candidates.find(({ assignedTo }) => assignedTo !== undefined);
  return assigned ?? (candidates.length === 1 ? oldestOf(candidates, rivals) : undefined);
}

/** The oldest template, unless it may be a rival's. */
function oldestOf(
  [oldest]: readonly Candidate[],
  rivals: readonly OpenCreate[],
): Candidate | undefined {
  const isRivalled = oldest !== undefined && rivals.some((rival) => fits(oldest, rival));
  return isRivalled ? undefined : oldest;
}

/** Whether the account is the create's operator's alone: then no template is assigned. */
function isAlone(
  { accounts, configuration }: ReadingBack,
  { cid, exclusive }: Account,
  { operatorId }: OpenCreate,
): boolean {
  const operator = exclusive ? configuration().operators.get(operatorId) : undefined;
  return operator !== undefined && accounts.of(operator).cid === cid;
}

function isForeign(rival: OpenCreate, { operatorId }: OpenCreate): boolean {
  return rival.operatorId !== operatorId;
}

/** One that was looked at before has ended, however long its next look is put off. */
function isUnderWay({ isDue, passes }: OpenCreate): boolean {
  return !isDue && passes === 0;
}

/** The template becomes the operator's, and the create is answered as it would have been. */
async function take(
  reading: ReadingBack,
  account: Account,
  create: OpenCreate,
  { templateId, item }: Candidate,
): Promise<void> {
  const { intents, configuration, logger, openCreates } = reading;
  const operator = configuration().operators.get(create.operatorId);
  const template = tree(item);
  const terms = operator && (await termsFor(reading, { operator, account }, template));
  const translated = terms && translate(template, terms, 'template');
  if (translated === undefined) {
    // Without the operator's configuration, its answer cannot be made.
    await openCreates.readAgain(create, LOOK_MS_MAX, create.ambiguous);
    return;
  }
  const tenant = { operatorId: create.operatorId, upstreamCid: account.cid };
  const answer = { status: 200, body: treeText(translated) };
  if (await intents.finishCreate(tenant, create.id, { templateId, item }, answer)) {
    const facts = { operator: create.operatorId, intent: create.id, templateId };
    logger.info(facts, 'bonus.create_found');
  } else {
    // An answered create has taken it since the candidates were read.
    await openCreates.readAgain(create, nextReadingMs(create.passes), false);
  }
}

function nextReadingMs(passes: number): number {
  return Math.min(LOOK_MS_MAX, LOOK_MS_MIN * 2 ** Math.min(passes, 10));
}

/** Each candidate is compared with each create: hundreds of both must not be parsed again every time. */
const facts = new WeakMap<Candidate | OpenCreate, TemplateFacts>();

function factsOnce(of: Candidate | OpenCreate): TemplateFacts {
  const read =
    facts.get(of) ?? ('item' in of ? factsOfTemplate(tree(of.item)) : factsOfCreate(tree(of.body)));
  facts.set(of, read);
  return read;
}

/** Parses them in slices before they are compared: with hundreds this takes longest. */
async function readFacts(
  candidates: readonly Candidate[],
  creates: readonly OpenCreate[],
): Promise<void> {
  const slices = new Slices();
  for (const one of [...candidates, ...creates]) {
    factsOnce(one);
    if (slices.isOver()) await slices.next();
  }
}

function tree(text: string): Json {
  return treeOf(parseJsonObject(Buffer.from(text)));
}
