import { canonicalAmount } from '../../domain/amount.ts';
import { entriesOf, type Json, memberOf } from '../translation/json-tree.ts';

/**
 * What create calls a field, and where a TemplateItem has it (docs/protocol.md, Bonus template).
 */
const FIELDS: readonly (readonly [sent: string, path: readonly string[]])[] = [
  ['name', ['name']],
  ['type', ['type']],
  ['enable', ['isEnable']],
  ['stage', ['stage']],
  ['fromTime', ['fromTime']],
  ['toTime', ['toTime']],
  ['daysToUse', ['daysToUse']],
  ['betAmount', ['freebetData', 'betAmount']],
  ['betCount', ['freebetData', 'betCount']],
  ['maxWin', ['freebetData', 'maxWin']],
  ['currency', ['freebetData', 'currency']],
  ['maxWinCurrency', ['freebetData', 'maxWinCurrency']],
  ['minSelection', ['freebetData', 'minSelection']],
  ['maxSelection', ['freebetData', 'maxSelection']],
  ['minOdd', ['freebetData', 'minOdd']],
  ['maxOdd', ['freebetData', 'maxOdd']],
  ['disciplines', ['disciplines']],
  ['availableCountries', ['availableCountries']],
  ['availableTournaments', ['availableTournaments']],
];

/**
 * Whether a template may have come from this create body: they agree in every field that both
 * have. Rather once too often than once too seldom: a template that is overlooked would be created
 * a second time, one that fits twice waits for a person.
 */
export function mayComeFrom(item: Json, body: Json): boolean {
  return FIELDS.every(([sent, path]) => {
    const asked = memberOf(body, sent);
    const made = path.reduce<Json | undefined>(memberOf, item);
    return asked === undefined || made === undefined || sameValue(asked, made);
  });
}

/** Lists are compared as sets, an empty one is as good as none. */
function sameValue(asked: Json, made: Json): boolean {
  const list = asked.kind === 'array' || made.kind === 'array';
  if (!list) return valueText(asked) === valueText(made);
  const wanted = new Set(entriesOf(asked).map(valueText));
  const found = new Set(entriesOf(made).map(valueText));
  return wanted.symmetricDifference(found).size === 0;
}

function valueText(json: Json): string {
  if (json.kind === 'number') return canonicalAmount(json.raw);
  return json.kind === 'text' ? json.value : json.kind === 'word' ? json.raw : '';
}
