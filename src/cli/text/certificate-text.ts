import type {
  CaseResult,
  Certificate,
  ShownCall,
  Verdict,
} from '../../certify/certificate/certificate.ts';
import {
  casesByGroup,
  countsLine,
  FITNESS_COLOURS,
  moneyLine,
  titleOf,
  VERDICT_MARKS,
  verificationLine,
} from '../../certify/report/report-words.ts';
import { MEANING_WORDS } from '../../certify/trial/failure-meaning.ts';
import { plain } from '../../lib/plain-text.ts';
import { columns, table } from '../../lib/table.ts';

const COLUMNS = columns(['verdict', 'case', 'what']);

/** SGR codes: green, red, yellow, faint. */
const COLOURS: Readonly<Record<Verdict, number>> = {
  passed: 32,
  failed: 31,
  warned: 33,
  skipped: 2,
};

/** The certificate for a terminal, the verdict last. @param colour whether escapes may be used */
export function certificateText(certificate: Certificate, colour: boolean): string {
  const groups = casesByGroup(certificate.cases).map(
    ([group, cases]) => `${titleOf(group)}\n${groupTable(cases, colour)}`,
  );
  const parts = [
    ...groups,
    ...skippedOf(certificate),
    ...findingsOf(certificate, colour),
    ...suggestionsOf(certificate),
    ...withheldOf(certificate),
    `Money: ${moneyLine(certificate)}`,
    countsLine(certificate),
    painted(FITNESS_COLOURS[certificate.verdict], plain(certificate.summary), colour),
  ];
  return parts.join('\n\n');
}

function groupTable(cases: readonly CaseResult[], colour: boolean): string {
  const rows = cases.map(({ verdict, id, title }) => [
    `${VERDICT_MARKS[verdict]} ${verdict}`,
    id,
    title,
  ]);
  const [titles = '', rule = '', ...lines] = table(COLUMNS, rows).split('\n');
  // Coloured after the columns are laid out: escape sequences have a length but no width.
  const painting = lines.map((line, at) => {
    const verdict = cases[at]?.verdict ?? 'passed';
    return painted(verdict, line, colour && verdict !== 'passed');
  });
  return [titles, rule, ...painting].join('\n');
}

function skippedOf({ cases }: Certificate): readonly string[] {
  const skipped = cases.filter(({ verdict }) => verdict === 'skipped');
  if (skipped.length === 0) return [];
  const reasons = new Map<string, number>();
  for (const {
    reasons: [reason = ''],
  } of skipped) {
    reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
  }
  const lines = [...reasons].map(([reason, count]) => `  ${count} × ${plain(reason)}`);
  return [`Skipped\n${lines.join('\n')}`];
}

function findingsOf({ findings, cases }: Certificate, colour: boolean): readonly string[] {
  if (findings.length === 0) return [];
  const lines = findings.map(({ case: id, verdict, meaning, advice }) => {
    const result = cases.find((one) => one.id === id);
    const seen = (result?.reasons ?? []).map((reason) => `\n    seen:     ${plain(reason)}`);
    return (
      `${painted(verdict, `${VERDICT_MARKS[verdict]} ${id}: ${MEANING_WORDS[meaning]}`, colour)}\n` +
      `    expected: ${result?.expected ?? ''}${seen.join('')}\n    to do:    ${plain(advice)}`
    );
  });
  return [`Findings, worst first\n${lines.join('\n')}`];
}

function suggestionsOf(certificate: Certificate): readonly string[] {
  const { suggestions } = certificate;
  if (suggestions.length === 0) return [];
  const lines = suggestions.flatMap(({ yaml, why, cases }) => [
    `    # ${plain(why)}${cases.length === 0 ? '' : ` (${listed(cases)})`}`,
    ...yaml.split('\n').map((line) => `    ${plain(line)}`),
  ]);
  return [
    `A dialect that helps, in the operator's file\nwallet:\n  dialect:\n${lines.join('\n')}\n` +
      verificationLine(certificate),
  ];
}

function withheldOf({ withheld }: Certificate): readonly string[] {
  if (withheld.length === 0) return [];
  const lines = withheld.map(({ yaml, why }) => `${indented(yaml)}\n    ${plain(why)}`);
  return [`Withheld from it\n${lines.join('\n')}`];
}

function indented(yaml: string): string {
  return yaml
    .split('\n')
    .map((line) => `  ${plain(line)}`)
    .join('\n');
}

function listed(cases: readonly string[]): string {
  return `${cases.slice(0, 3).join(', ')}${cases.length > 3 ? ', …' : ''}`;
}

/** What a case sent and received, for `--verbose`. */
export function callsText({ id, verdict, calls, script }: CaseResult): string {
  const lines = calls.map(callText);
  const again = script === null ? '' : `\nThe same calls for a shell:\n${script}\n`;
  return `${VERDICT_MARKS[verdict]} ${id}\n${lines.join('\n')}${again}`;
}

function callText({ operation, at, ms, request, answer, error }: ShownCall): string {
  const headers = Object.entries(request.headers).map(
    ([name, value]) => `  > ${plain(name)}: ${plain(value)}`,
  );
  const came =
    answer === null
      ? `  < no answer: ${plain(error ?? '')}`
      : `  < HTTP ${answer.status}\n  < ${plain(answer.body)}${answer.truncated ? ' …' : ''}`;
  return [
    `${operation} at ${at}, ${ms} ms`,
    `  > ${request.method} ${plain(request.url)}`,
    ...headers,
    `  > ${plain(request.body)}`,
    came,
  ].join('\n');
}

function painted(verdict: Verdict, text: string, colour: boolean): string {
  return colour ? `\u001b[${COLOURS[verdict]}m${text}\u001b[0m` : text;
}
