import { askService, type BonusCall, type Bonuses, seesTemplate } from '../context.ts';
import { type BonusResult, notDone, notFound, ok } from '../outcome.ts';
import { type BonusApiAnswer, type NotAnswered, saysMissing } from '../service/answer.ts';
import { termsFor, termsOf } from '../translation/bonus-terms.ts';
import { fieldsOf, templateFields } from '../translation/fields.ts';
import { idOf, type Json, treeOf, treeText } from '../translation/json-tree.ts';
import { translate } from '../translation/translate.ts';
import { bodyOf } from './request-body.ts';

/** `POST /bonuses/template`. For a foreign or missing id the service is not called: both are 404 (I8). */
export async function readTemplate(bonuses: Bonuses, call: BonusCall): Promise<BonusResult> {
  const read = fieldsOf(templateFields, call.document);
  if (!('fields' in read)) return read;
  const templateId = String(read.fields.templateId);
  if (!(await seesTemplate(bonuses, call, templateId))) return notFound('template');

  const shown = await showTemplate(bonuses, call, templateId);
  if (shown.kind === 'missing') return notFound('template');
  if (shown.kind === 'notAnswered') return notDone(shown.answer, termsOf(call));
  const translated = translate(shown.item, await termsFor(bonuses, call, shown.item), 'template');
  return translated === undefined ? notFound('template') : ok(treeText(translated));
}

/** The service's present answer about a template. */
type Shown =
  | { readonly kind: 'template'; readonly item: Json }
  | { readonly kind: 'missing' }
  | { readonly kind: 'notAnswered'; readonly answer: NotAnswered };

/** Reads a template and stores a copy for lists. @param isMissing which answers mean that there is none */
export async function showTemplate(
  bonuses: Bonuses,
  call: BonusCall,
  templateId: string,
  isMissing: (answer: BonusApiAnswer) => boolean = saysMissing,
): Promise<Shown> {
  const answer = await askService(bonuses, call, 'template', bodyOf(call, { templateId }));
  const keep = (item: string | null) =>
    bonuses.ownership.keepCopies(call.account.cid, [{ templateId, item }]);
  if (isMissing(answer)) {
    await keep(null);
    return { kind: 'missing' };
  }
  if (answer.kind !== 'answered') return { kind: 'notAnswered', answer };
  const item = treeOf(answer.document);
  if (idOf(item, 'id') !== templateId) {
    const error = 'it showed another template than it was asked for';
    return { kind: 'notAnswered', answer: { kind: 'failed', error } };
  }
  await keep(treeText(item));
  return { kind: 'template', item };
}
