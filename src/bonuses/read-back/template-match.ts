import { canonicalAmount } from '../../domain/amount.ts';
import { entriesOf, type Json, memberOf } from '../translation/json-tree.ts';

/** A field's name in a create, and its path in a TemplateItem. Not `enable`: people switch it by hand. */
const FIELDS: readonly (readonly [sent: string, path: readonly string[]])[] = [
  ['name', ['name']],
  ['type', ['type']],
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

/** The fields of a template, or of a create's body; undefined for a field that is missing. */
export interface TemplateFacts {
  readonly compared: readonly (Fact | undefined)[];
  readonly enable: Fact | undefined;
}

interface Fact {
  readonly text: string;
  readonly isList: boolean;
  /** The entries regardless of order and repetition. */
  readonly asSet: string;
}

export function factsOfTemplate(item: Json): TemplateFacts {
  return {
    compared: FIELDS.map(([, path]) => factOf(path.reduce<Json | undefined>(memberOf, item))),
    enable: factOf(memberOf(item, 'isEnable')),
  };
}

export function factsOfCreate(body: Json): TemplateFacts {
  return {
    compared: FIELDS.map(([sent]) => factOf(memberOf(body, sent))),
    enable: factOf(memberOf(body, 'enable')),
  };
}

function factOf(json: Json | undefined): Fact | undefined {
  if (json === undefined) return undefined;
  const entries = new Set(entriesOf(json).map(valueText));
  return {
    text: valueText(json),
    isList: json.kind === 'array',
    asSet: JSON.stringify([...entries].sort()),
  };
}

/**
 * Whether a template may come from this create: they agree in every field that both have.
 * One that is overlooked would be created twice; one that matches twice waits for a person.
 */
export function mayComeFrom(template: TemplateFacts, create: TemplateFacts): boolean {
  return create.compared.every((sent, at) => agree(sent, template.compared[at]));
}

/** Whether a template is switched on or off as this create asked for it. */
export function isAsEnabled(template: TemplateFacts, create: TemplateFacts): boolean {
  return agree(create.enable, template.enable);
}

function agree(sent: Fact | undefined, made: Fact | undefined): boolean {
  return sent === undefined || made === undefined || isSame(sent, made);
}

/** Lists are compared as sets; an empty list equals any value that is no list, such as null. */
function isSame(sent: Fact, made: Fact): boolean {
  return sent.isList || made.isList ? sent.asSet === made.asSet : sent.text === made.text;
}

function valueText(json: Json): string {
  if (json.kind === 'number') return canonicalAmount(json.raw);
  return json.kind === 'text' ? json.value : json.kind === 'word' ? json.raw : '';
}
