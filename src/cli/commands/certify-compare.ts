import { Command } from 'commander';
import type { CaseChange, Comparison } from '../../certify/certificate/compare.ts';
import { plain } from '../../lib/plain-text.ts';
import { readCertificate } from '../certification/certificate-files.ts';
import { withExamples } from '../help.ts';
import type { Terminal } from '../terminal.ts';

interface Options {
  readonly json?: true;
}

/** `wagergate certify compare`: what changed between two runs. */
export function certifyCompareCommand(terminal: Terminal): Command {
  const command = new Command('compare')
    .summary('shows what changed between two runs')
    .description(
      'Reads two certificates and shows which cases became better or worse, and what else differs ' +
        'between the runs. Says so when a certificate was changed after it was written.',
    )
    .argument('<old>', 'certificate.json of the earlier run, or its folder')
    .argument('<new>', 'certificate.json of the later run, or its folder')
    .option('--json', 'print the differences as JSON')
    .action((before: string, after: string, _options: Options, self: Command) =>
      // `--json` is also an option of `certify`, which takes it wherever it is given.
      compare(terminal, before, after, self.optsWithGlobals<Options>().json === true),
    );
  return withExamples(command, { line: 'certify compare 2026-10 2026-11' });
}

async function compare(
  terminal: Terminal,
  before: string,
  after: string,
  json: boolean,
): Promise<void> {
  const { compareCertificates } = await import('../../certify/certificate/compare.ts');
  const [old, now] = [await readCertificate(before), await readCertificate(after)];
  for (const [path, { isIntact }] of [
    [before, old],
    [after, now],
  ] as const) {
    if (!isIntact) terminal.tell(`warning: ${path} was changed after it was written`);
  }
  const comparison = compareCertificates(old.certificate, now.certificate);
  if (json) terminal.printJson(comparison);
  else terminal.print(comparisonText(comparison));
}

function comparisonText({ verdict, better, worse, other, notes }: Comparison): string {
  const said =
    verdict.before === verdict.after
      ? `Verdict: ${verdict.after}, as before`
      : `Verdict: ${verdict.before} → ${verdict.after}`;
  const parts = [
    said,
    ...section('Worse', worse),
    ...section('Better', better),
    ...section('In only one of the runs', other),
    ...(notes.length === 0 ? [] : [`Mind\n${notes.map((note) => `  ${plain(note)}`).join('\n')}`]),
  ];
  const isSame = worse.length + better.length + other.length === 0;
  return [...parts, ...(isSame ? ['No case ended differently.'] : [])].join('\n\n');
}

function section(title: string, changes: readonly CaseChange[]): readonly string[] {
  if (changes.length === 0) return [];
  const lines = changes.map(({ case: id, before, after, why }) => {
    const reason = why === '' ? '' : `: ${plain(why)}`;
    return `  ${plain(id)}  ${before ?? 'not run'} → ${after ?? 'not run'}${reason}`;
  });
  return [`${title}\n${lines.join('\n')}`];
}
