import type { CaseResult, Certificate, Verdict } from '../certify/certificate.ts';
import {
  casesByGroup,
  headline,
  moneyLine,
  titleOf,
  VERDICT_MARKS,
} from '../certify/report-words.ts';
import { table } from '../lib/table.ts';
import { plain } from './plain-text.ts';

const COLUMNS = [
  { title: 'verdict', align: 'left' },
  { title: 'case', align: 'left' },
  { title: 'what', align: 'left' },
  { title: 'rule', align: 'left' },
] as const;

/** SGR codes: green, red, yellow, faint. */
const COLOURS: Readonly<Record<Verdict, number>> = {
  passed: 32,
  failed: 31,
  warned: 33,
  skipped: 2,
};

/**
 * The certificate as a person reads it in a terminal.
 * @param colour whether escape sequences may be used
 */
export function certificateText(certificate: Certificate, colour: boolean): string {
  const groups = casesByGroup(certificate.cases).map(
    ([group, cases]) => `${titleOf(group)}\n${groupTable(cases, colour)}`,
  );
  const parts = [
    ...groups,
    ...reasonsOf(certificate, colour),
    ...suggestionsOf(certificate),
    `Money: ${moneyLine(certificate)}`,
    painted(certificate.result, headline(certificate), colour),
  ];
  return parts.join('\n\n');
}

function groupTable(cases: readonly CaseResult[], colour: boolean): string {
  const rows = cases.map(({ verdict, id, title, rule }) => [
    `${VERDICT_MARKS[verdict]} ${verdict}`,
    id,
    title,
    rule,
  ]);
  const [titles = '', rule = '', ...lines] = table(COLUMNS, rows).split('\n');
  // Painted when the columns stand: escape sequences have a length but no width.
  const painting = lines.map((line, at) => {
    const verdict = cases[at]?.verdict ?? 'passed';
    return painted(verdict, line, colour && verdict !== 'passed');
  });
  return [titles, rule, ...painting].join('\n');
}

function reasonsOf({ cases }: Certificate, colour: boolean): readonly string[] {
  const notable = cases.filter(({ verdict }) => verdict !== 'passed');
  if (notable.length === 0) return [];
  const told = notable.map(({ id, verdict, expected, reasons }) => {
    const why = reasons.map((reason) => `\n    ${plain(reason)}`).join('');
    return `${painted(verdict, `${VERDICT_MARKS[verdict]} ${id}`, colour)}\n    expected: ${expected}${why}`;
  });
  return [`What was seen\n${told.join('\n')}`];
}

function suggestionsOf({ suggestions }: Certificate): readonly string[] {
  if (suggestions.length === 0) return [];
  const lines = suggestions.flatMap(({ yaml, why, cases }) => [
    `    # ${plain(why)} (${cases.slice(0, 3).join(', ')}${cases.length > 3 ? ', …' : ''})`,
    ...yaml.split('\n').map((line) => `    ${plain(line)}`),
  ]);
  return [
    `A dialect that would help, in the operator's file\nwallet:\n  dialect:\n${lines.join('\n')}`,
  ];
}

function painted(verdict: Verdict, text: string, colour: boolean): string {
  return colour ? `\u001b[${COLOURS[verdict]}m${text}\u001b[0m` : text;
}
