import { type BonusCall, type Bonuses, seesTemplate } from '../context.ts';
import { type BonusResult, notDone, notFound, ok } from '../outcome.ts';
import { showTemplate } from '../service/read-template.ts';
import { termsFor, termsOf } from '../translation/bonus-terms.ts';
import { templateFields } from '../translation/fields.ts';
import { treeText } from '../translation/json-tree.ts';
import { fieldsOf } from '../translation/read-fields.ts';
import { translate } from '../translation/translate.ts';

/**
 * `POST /bonuses/template`. The gateway knows which templates an operator sees, so that the service is called
 * neither for a foreign nor for a missing id: both are 404 at once (I8).
 */
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
