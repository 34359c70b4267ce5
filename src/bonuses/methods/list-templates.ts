import { mapLimited } from '../../lib/map-limited.ts';
import { Slices } from '../../lib/slices.ts';
import { parseJsonObject } from '../../protocol/json.ts';
import type { ListedTemplate } from '../../store/bonuses/ownership.ts';
import { askService, type BonusCall, type Bonuses } from '../context.ts';
import { type BonusResult, notDone, ok } from '../outcome.ts';
import { ITEMS_PER_PAGE, pageText, translatedPage } from '../paging.ts';
import { refusesToShow } from '../service/answer.ts';
import { termsFor, termsOf } from '../translation/bonus-terms.ts';
import { fieldsOf, templatesFields } from '../translation/fields.ts';
import { type Json, treeInSlices, treeOf, treeText } from '../translation/json-tree.ts';
import { translateList } from '../translation/translate.ts';
import { showTemplate } from './read-template.ts';
import { bodyOf } from './request-body.ts';

/** How many templates without a stored copy are fetched at a time. */
const FETCHES_AT_ONCE = 8;
/** A missing template is replaced on the page by the next one, which may lack a copy too. */
const ROUNDS_MAX = 4;

/** `POST /bonuses/templates`, from our own database: the read-back keeps the copies of templates fresh. */
export async function listTemplates(bonuses: Bonuses, call: BonusCall): Promise<BonusResult> {
  const read = fieldsOf(templatesFields, call.document);
  if (!('fields' in read)) return read;
  const { page } = read.fields;
  if (call.account.exclusive) return await passOn(bonuses, call, page);
  return await call.inTurn(() => ownPage(bonuses, call, page));
}

async function ownPage(bonuses: Bonuses, call: BonusCall, page: number): Promise<BonusResult> {
  const listed = await completePage(bonuses, call, page);
  if (!('templates' in listed)) return listed;
  const { sharedTemplates } = call.operator.bonuses;
  const totalItems = await bonuses.ownership.countTemplates(call.tenant, sharedTemplates);
  const items = await ownTerms(bonuses, call, listed.templates);
  return ok(pageText(items, { totalItems, page }));
}

/** Works in slices: a hundred large templates are some megabytes, and callbacks must not wait for them. */
async function ownTerms(
  bonuses: Bonuses,
  call: BonusCall,
  templates: readonly ListedTemplate[],
): Promise<string> {
  const slices = new Slices();
  const items = await slices.map(templates, ({ item = '{}' }) =>
    treeOf(parseJsonObject(Buffer.from(item))),
  );
  const list: Json = { kind: 'array', items };
  const translated = await translateList(list, await termsFor(bonuses, call, list), 'template');
  const texts = await slices.map(translated?.kind === 'array' ? translated.items : [], treeText);
  return `[${texts.join(',')}]`;
}

/** The page, after fetching missing copies of its templates. */
async function completePage(
  bonuses: Bonuses,
  call: BonusCall,
  page: number,
): Promise<{ readonly templates: readonly ListedTemplate[] } | BonusResult> {
  const at = { limit: ITEMS_PER_PAGE, offset: (page - 1) * ITEMS_PER_PAGE };
  const { sharedTemplates } = call.operator.bonuses;
  for (let round = 0; ; round += 1) {
    const listed = await bonuses.ownership.listTemplates(call.tenant, sharedTemplates, at);
    const lacking = listed.filter(({ item }) => item === undefined);
    if (lacking.length === 0) return { templates: listed };
    if (round === ROUNDS_MAX) {
      return { templates: listed.filter(({ item }) => item !== undefined) };
    }
    const shown = await mapLimited(lacking, FETCHES_AT_ONCE, ({ templateId }) =>
      showTemplate(bonuses, call, templateId, refusesToShow),
    );
    const failed = shown.find((one) => one.kind === 'notAnswered');
    if (failed !== undefined) return notDone(failed.answer, termsOf(call));
  }
}

/** For an operator with its own account: the service's list is the operator's list. */
async function passOn(bonuses: Bonuses, call: BonusCall, page: number): Promise<BonusResult> {
  const body = bodyOf(call, { page: String(page) });
  const answer = await askService(bonuses, call, 'templates', body);
  if (answer.kind !== 'answered') return notDone(answer, termsOf(call));
  const list = await treeInSlices(answer.document);
  return ok(await translatedPage(list, await termsFor(bonuses, call, list), 'template'));
}
