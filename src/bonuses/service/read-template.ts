import { askService, type BonusCall, type Bonuses } from '../context.ts';
import { bodyOf } from '../methods/request-body.ts';
import { idOf, type Json, treeOf, treeText } from '../translation/json-tree.ts';
import { type BonusApiAnswer, type NotAnswered, saysMissing } from './answer.ts';

/** The service's present answer about a template. */
export type Shown =
  | { readonly kind: 'template'; readonly item: Json }
  | { readonly kind: 'missing' }
  | { readonly kind: 'notAnswered'; readonly answer: NotAnswered };

/**
 * Reads a template from the service and stores a copy for lists.
 * @param isMissing which answers mean that the template does not exist for the operator
 */
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
