import { readFileSync, writeFileSync } from 'node:fs';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { Command } from 'commander';
import pkg from '../../../package.json' with { type: 'json' };
import type { Certificate } from '../../certify/certificate/certificate.ts';
import { type Certified, type Progress, Refused } from '../../certify/certification.ts';
import { systemClock } from '../../domain/clock.ts';
import { unreachable } from '../../domain/unreachable.ts';
import { errorMessage, fileFault } from '../../lib/faults.ts';
import { plain } from '../../lib/plain-text.ts';
import { readyFolder, writeCertificate } from '../certification/certificate-files.ts';
import { type OperatorOptions, operatorToCertify } from '../certification/certify-operator.ts';
import { CommandFailed, UsageError } from '../failures.ts';
import { withExamples } from '../help.ts';
import { untilInterrupted } from '../interruption.ts';
import type { Terminal } from '../terminal.ts';
import { callsText, certificateText } from '../text/certificate-text.ts';
import { certifyCompareCommand } from './certify-compare.ts';

interface Options extends Omit<OperatorOptions, 'strict' | 'user'> {
  readonly user?: string;
  readonly ca?: string;
  readonly only?: readonly string[];
  readonly strict?: true;
  readonly iKnow?: true;
  readonly out: string;
  readonly exportHar?: string;
  readonly verbose?: true;
  readonly json?: true;
}

const DESCRIPTION =
  "Plays the service against an operator's sandbox wallet: more than a hundred cases over " +
  'signatures, reads, bets and their operations, latency and the form of answers, with the ' +
  'balance looked at before and after. Says whether the wallet is fit, fit with a dialect or not ' +
  'fit, what to do about each finding, and writes certificate.json and certificate.html. Which ' +
  'items of wallet.dialect help is tried by running the cases again. Bets are placed with the ' +
  "player's money and taken back; the player needs at least 100 units. A wallet is a sandbox when " +
  'its profile says isTest: true of the player; no other is touched without --i-know. With ' +
  '--operator the wallet is taken from the configuration; with --wallet and --secret-file or ' +
  '--secret-env none is needed. Exits with 0 when the wallet is fit (also with a dialect), 1 when ' +
  'it is not, 2 when nothing was tried, 130 when stopped.';

/** `wagergate certify`: plays the service against an operator's sandbox wallet. */
export function certifyCommand(terminal: Terminal): Command {
  const command = new Command('certify')
    .summary("plays the service against an operator's sandbox wallet, and judges it")
    .description(DESCRIPTION)
    .option('--operator <id>', 'the operator, as its file is named')
    .option('--wallet <url>', "the sandbox's base address (default: the operator's wallet.baseUrl)")
    .option('--secret-file <file>', 'the secret shared with the wallet, in a file')
    .option('--secret-env <name>', 'the same, in an environment variable')
    .option('--dialect <file>', 'a YAML file of dialect items, instead of those of the operator')
    .option('--ca <file>', "further certificate authorities (PEM) for the wallet's https")
    .option('--user <id>', "the test player's id at the operator")
    .option('--token <token>', "a live token of the operator's for this player")
    .option('--token-env <name>', 'the same, in an environment variable')
    .option('--token-file <file>', 'the same, in a file')
    .option('--ended-token <token>', "a token of the player's whose session has ended")
    .option('--currency <code>', "the token's currency (default: the operator's first)")
    .option('--other-user <id>', 'a second player, for what players must not do to each other')
    .option('--other-token <token>', "the second player's token, in the same currency")
    .option('--other-token-env <name>', 'the same, in an environment variable')
    .option('--other-token-file <file>', 'the same, in a file')
    .option('--only <name...>', 'only these groups or cases')
    .option('--strict', 'leave out the dialect, except its paths and headers')
    .option('--i-know', 'go on even though the wallet is not marked as a sandbox')
    .option('--verbose', 'print every request and answer')
    .option('--out <dir>', 'where certificate.json and certificate.html go', '.')
    .option('--export-har <file>', 'write every call into an HTTP Archive as well')
    .option('--folder <dir>', 'the configuration folder (default: GATEWAY_CONFIG, else ./config)')
    .option('--json', 'print the certificate as JSON')
    .action((options: Options) => certifyWallet(terminal, options));
  command.addCommand(certifyCompareCommand(terminal));
  return withExamples(
    command,
    { line: 'certify --operator alpha --user test-1 --token-env TEST_TOKEN' },
    {
      line:
        'certify --wallet https://sandbox.alpha.example --secret-file secret.txt --user test-1 ' +
        '--token-file token.txt --currency EUR',
      note: 'without any configuration: what an operator runs by itself',
    },
    {
      line: 'certify --operator alpha --user test-1 --token ... --only settle rollback-twice --verbose',
    },
    { line: 'certify compare before/certificate.json after/certificate.json' },
  );
}

async function certifyWallet(terminal: Terminal, options: Options): Promise<void> {
  const { strict = false, iKnow = false, only = [], verbose = false, user } = options;
  // Not a required option of Commander's, because `certify compare` would need it as well.
  if (user === undefined) throw new UsageError("give the test player's id at the operator: --user");
  const { unknownSelection } = await import('../../certify/selection.ts');
  for (const name of only) {
    const why = unknownSelection(name);
    if (why !== undefined) throw new UsageError(`--only ${plain(why)}`);
  }
  const operator = await operatorToCertify(terminal.env, { ...options, user, strict });
  if (options.ca !== undefined) trust(options.ca);
  await readyFolder(options.out);
  if (options.exportHar !== undefined) writeText(options.exportHar, '');
  // Imported here: the wallets' HTTP client takes time that no other command should pay.
  const { certify } = await import('../../certify/run.ts');
  let ran: AbortSignal | undefined;
  const certified = await untilInterrupted(
    () => terminal.tell(STOPPING),
    async (signal) => {
      ran = signal;
      return await certify({
        ...operator,
        strict,
        only,
        iKnow,
        verbose,
        version: pkg.version,
        clock: systemClock,
        signal,
        onProgress: (event) => tell(terminal, event, verbose),
      });
    },
  ).catch((error: unknown) => {
    throw error instanceof Refused
      ? new UsageError(
          `not certified: ${plain(error.message)} (wallet ${operator.settings.baseUrl})`,
        )
      : error;
  });
  await report(terminal, certified, options);
  // Only now: the findings of an interrupted run are reported too.
  ran?.throwIfAborted();
  judge(certified.certificate);
}

function tell(terminal: Terminal, event: Progress, verbose: boolean): void {
  switch (event.kind) {
    case 'warning':
      terminal.tell(`warning: ${plain(event.text)}`);
      break;
    case 'begun':
      terminal.tell(`${event.at}/${event.of} ${event.one.id}`);
      break;
    case 'ended':
      if (verbose) terminal.tell(callsText(event.result));
      break;
    case 'verifying':
      terminal.tell(`again with the dialect ${plain(JSON.stringify(event.dialect))}`);
      break;
    default:
      unreachable(event);
  }
}

async function report(
  terminal: Terminal,
  { certificate, calls, display }: Certified,
  { out, exportHar, json }: Options,
): Promise<void> {
  const files = [...(await writeCertificate(out, certificate))];
  if (exportHar !== undefined) {
    const { harOf } = await import('../../certify/report/har.ts');
    const shown = calls.map((recorded) => display.redaction.shown(display.origin, recorded));
    writeText(exportHar, `${JSON.stringify(harOf({ version: pkg.version, calls: shown }))}\n`);
    files.push(exportHar);
  }
  if (json) terminal.printJson(certificate);
  else terminal.print(certificateText(certificate, mayColour(terminal)));
  terminal.tell(`written: ${files.join(', ')}`);
}

/** @throws UsageError when the run did not begin, CommandFailed when the wallet is not fit */
function judge({ verdict, ending, cases, summary }: Certificate): void {
  if (ending === 'not_begun') {
    const [first] = cases;
    throw new UsageError(`not certified: ${plain(first?.reasons[0] ?? summary)}`);
  }
  if (verdict === 'not_fit') throw new CommandFailed('the wallet is not fit: see the report');
}

function writeText(path: string, text: string): void {
  try {
    writeFileSync(path, text);
  } catch (error) {
    const why = errorMessage(error);
    throw new UsageError(`--export-har ${path} cannot be written: ${why}`, { cause: error });
  }
}

/** Trusts a file's authorities besides the usual ones, in this process only. */
function trust(file: string): void {
  let pem: string;
  try {
    pem = readFileSync(file, 'utf8');
  } catch (error) {
    throw new UsageError(`--ca ${file} ${fileFault(error)}`, { cause: error });
  }
  try {
    setDefaultCACertificates([...getCACertificates('default'), pem]);
  } catch (error) {
    throw new UsageError(`--ca ${file} holds no certificate in PEM form`, { cause: error });
  }
}

const STOPPING = 'stopping: stakes are given back first; press Ctrl-C again to end at once';

/** A terminal has columns, a pipe has none; see also https://no-color.org. */
function mayColour({ columns, env }: Terminal): boolean {
  return columns !== undefined && !env.NO_COLOR;
}
