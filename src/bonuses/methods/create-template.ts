import { CODES } from '../../domain/codes.ts';
import { Slices } from '../../lib/slices.ts';
import { failure } from '../../protocol/answers.ts';
import { type JsonDocument, parseJsonObject } from '../../protocol/json.ts';
import { askService, type BonusCall, type Bonuses } from '../context.ts';
import { type BonusResult, invalid, NOTE_OPEN, notDone, ok } from '../outcome.ts';
import { totalPages } from '../paging.ts';
import {
  factsOfCreate,
  factsOfTemplate,
  isAsEnabled,
  mayComeFrom,
} from '../read-back/template-match.ts';
import type { NotAnswered } from '../service/answer.ts';
import { termsFor, termsOf } from '../translation/bonus-terms.ts';
import { createTemplateFields, fieldsOf } from '../translation/fields.ts';
import {
  entriesOf,
  idOf,
  type Json,
  memberOf,
  treeInSlices,
  treeOf,
  treeText,
} from '../translation/json-tree.ts';
import { translate } from '../translation/translate.ts';
import { intentFor, notConfirmed, recorded, repeatAnswer } from './intent-answers.ts';
import { bodyOf, bodyWith, contentOf } from './request-body.ts';

/** Lower than every id. */
const NO_TEMPLATE = -1n;

/** Keeps a page of a hundred operators' templates below the limit for an answer (I7). */
const TEMPLATE_BYTES_MAX = 16 * 1024;

/** Characters that some JSON encoders write as six, such as `\u003c`. */
const ESCAPED_SOMEWHERE = /[^\w "{}[\],:.-]/g;
const CHARS_OF_ESCAPE = 6;

/**
 * `POST /bonuses/templates/add`. The intent is committed before the service is called, so the template is found
 * again whatever fails afterwards. The same body is sent only once: a repeat gets the first answer.
 */
export async function createTemplate(bonuses: Bonuses, call: BonusCall): Promise<BonusResult> {
  const read = fieldsOf(createTemplateFields, call.document);
  if (!('fields' in read)) return read;
  const content = contentOf(treeOf(call.document));
  const intent = intentFor(bonuses, call, content);
  // Before the operator's present limits: a repeat refused by those would look like a create never made.
  const before = await bonuses.intents.findEqual(intent, 'create');
  if (before !== undefined) return repeatAnswer(before);
  if (isTooLarge(intent.body)) return TOO_LARGE;
  const { currencies } = call.operator;
  if (!currencies.includes(read.fields.currency)) {
    return invalid(`currency: must be one of ${currencies.join(', ')}`);
  }

  const highest = await call.inTurn(() => highestTemplateId(bonuses, call));
  if (typeof highest !== 'string') {
    return 'answer' in highest ? highest : notDone(highest, termsOf(call));
  }
  const begun = await bonuses.intents.beginCreate(intent, highest);
  if (begun.kind !== 'begun') return repeatAnswer(begun);

  const sent = bodyWith(call, content);
  const answer = await askService(bonuses, call, 'templates/add', sent);
  return answer.kind === 'answered'
    ? await created(bonuses, call, { intentId: begun.intentId, content }, treeOf(answer.document))
    : await notConfirmed(bonuses, begun.intentId, answer, termsOf(call));
}

const TOO_LARGE: BonusResult = {
  answer: failure(
    CODES.validation,
    `The template is over ${TEMPLATE_BYTES_MAX} bytes; characters other than ASCII letters, digits and blanks count six`,
    413,
  ),
  outcome: 'invalid',
};

/** Whether the template may be too large in the service's encoding. */
function isTooLarge(body: string): boolean {
  const escapes = body.match(ESCAPED_SOMEWHERE)?.length ?? 0;
  return body.length + escapes * (CHARS_OF_ESCAPE - 1) > TEMPLATE_BYTES_MAX;
}

/** New templates have a higher id than this, so the read-back never mistakes an older one for this one. */
async function highestTemplateId(bonuses: Bonuses, call: BonusCall): Promise<string | NotAnswered> {
  const ask = (page: number) =>
    askService(bonuses, call, 'templates', bodyOf(call, { page: String(page) }));
  const first = await ask(1);
  if (first.kind !== 'answered') return first;
  const pages = [first.document];
  const lastPage = pagesOf(first.document);
  if (lastPage > 1) {
    const last = await ask(lastPage);
    if (last.kind !== 'answered') return last;
    pages.push(last.document);
  }
  const ids = await Promise.all(pages.map(idsOn));
  return String(ids.flat().reduce((highest, id) => (id > highest ? id : highest), NO_TEMPLATE));
}

function pagesOf(page: JsonDocument): number {
  const metadata = page.object('metadata');
  if (metadata === undefined) return 1;
  return totalPages({ kind: 'object', members: [{ name: 'metadata', value: treeOf(metadata) }] });
}

/** Avoids the page's tree if its ids are safe numbers: a page of large templates takes a fraction of the time. */
async function idsOn(page: JsonDocument): Promise<readonly bigint[]> {
  const { items } = page.value;
  const entries: readonly unknown[] = Object.values(Object(items));
  const ids = entries.map((item) =>
    typeof item === 'object' && item !== null && 'id' in item ? item.id : undefined,
  );
  const isExact = ids.every((id) => typeof id !== 'number' || Number.isSafeInteger(id));
  if (isExact) return ids.map((id) => (typeof id === 'number' ? BigInt(id) : NO_TEMPLATE));
  const tree = await treeInSlices(page);
  return entriesOf(memberOf(tree, 'items')).map((item) => BigInt(idOf(item, 'id') ?? NO_TEMPLATE));
}

/** A create as the service was asked for it. */
interface SentCreate {
  readonly intentId: string;
  readonly content: Json;
}

async function created(
  bonuses: Bonuses,
  call: BonusCall,
  create: SentCreate,
  item: Json,
): Promise<BonusResult> {
  return await recorded(bonuses, call, termsOf(call), async () => {
    const terms = await termsFor(bonuses, call, item);
    const templateId = idOf(item, 'id');
    const translated = translate(item, terms, 'template');
    if (templateId === undefined || translated === undefined) {
      const error = 'it created a template without saying which';
      return notDone({ kind: 'failed', error }, terms, NOTE_OPEN);
    }
    const answer = { status: 200, body: treeText(translated) };
    const template = { templateId, item: treeText(item) };
    const isOthers = await isMadeForAnother(bonuses, call, create, { templateId, item });
    if (
      !isOthers &&
      (await bonuses.intents.finishCreate(call.tenant, create.intentId, template, answer))
    ) {
      return ok(answer.body);
    }
    const error = isOthers ? 'the answer to another create' : 'an id twice';
    const facts = { operator: call.operator.id, templateId, note: error };
    bonuses.logger.error(facts, 'bonus.template_of_another');
    return notDone({ kind: 'failed', error }, terms, NOTE_OPEN);
  });
}

/** Whether a template answers another create, possibly another operator's (I8). */
async function isMadeForAnother(
  { intents }: Bonuses,
  { tenant: { upstreamCid } }: BonusCall,
  { intentId, content }: SentCreate,
  { templateId, item }: { readonly templateId: string; readonly item: Json },
): Promise<boolean> {
  const made = factsOfTemplate(item);
  // Nobody has switched it on or off yet.
  const isFor = (body: Json) => {
    const facts = factsOfCreate(body);
    return mayComeFrom(made, facts) && isAsEnabled(made, facts);
  };
  if (isFor(content)) return false;
  const others = await intents.otherCreates(upstreamCid, intentId, templateId);
  const slices = new Slices();
  for (const body of others) {
    if (isFor(treeOf(parseJsonObject(Buffer.from(body))))) return true;
    if (slices.hasPassed) await slices.next();
  }
  return false;
}
