import { Command, Option } from 'commander';
import pkg from '../../../package.json' with { type: 'json' };
import { GROUPS, type Group } from '../../certify/certificate.ts';
import { systemClock } from '../../domain/clock.ts';
import { writeCertificate } from '../certificate-files.ts';
import { certificateText } from '../certificate-text.ts';
import { operatorToCertify } from '../certify-operator.ts';
import { CommandFailed, UsageError } from '../failures.ts';
import { withExamples } from '../help.ts';
import { untilInterrupted } from '../interruption.ts';
import { plain } from '../plain-text.ts';
import type { Terminal } from '../terminal.ts';

interface Options {
  readonly operator: string;
  readonly wallet?: string;
  readonly user: string;
  readonly token: string;
  readonly currency?: string;
  readonly otherUser?: string;
  readonly otherToken?: string;
  readonly only?: readonly Group[];
  readonly strict?: true;
  readonly iKnow?: true;
  readonly out: string;
  readonly folder?: string;
  readonly json?: true;
}

/** `wagergate certify`: plays the service against an operator's sandbox wallet. */
export function certifyCommand(terminal: Terminal): Command {
  const command = new Command('certify')
    .summary("plays the service against an operator's sandbox wallet, and judges it")
    .description(
      "Plays the service against an operator's sandbox wallet: more than a hundred cases over " +
        'signatures, reads, bets and their operations, latency and the form of answers, with the ' +
        "balance looked at before and after. Calls are signed with the operator's wallet.secrets " +
        'and made under its dialect. Prints a table, says which items of wallet.dialect would ' +
        'help, and writes certificate.json and certificate.html. Bets are placed with the ' +
        "player's money and taken back; the player needs at least 100 units. A wallet is a " +
        'sandbox when its profile says isTest: true of the player; no other is touched without ' +
        '--i-know. Exits with 0 when no case failed, 1 when one did, 2 when nothing was tried.',
    )
    .requiredOption('--operator <id>', 'the operator, as its file is named')
    .requiredOption('--user <id>', "the test player's id at the operator")
    .requiredOption('--token <token>', "a live token of the operator's for this player")
    .option('--wallet <url>', "the sandbox's base address (default: wallet.baseUrl)")
    .option('--currency <code>', "the token's currency (default: the operator's first)")
    .option('--other-user <id>', 'a second player, for what players must not do to each other')
    .option('--other-token <token>', "the second player's token, in the same currency")
    .addOption(new Option('--only <group...>', 'only these groups of cases').choices(GROUPS))
    .option('--strict', 'leave out the dialect, but for its paths and headers')
    .option('--i-know', 'go on although the wallet is not marked as a sandbox')
    .option('--out <dir>', 'where certificate.json and certificate.html go', '.')
    .option('--folder <dir>', 'the configuration folder (default: GATEWAY_CONFIG, else ./config)')
    .option('--json', 'print the certificate as JSON')
    .action((options: Options) => certifyWallet(terminal, options));
  return withExamples(
    command,
    { line: 'certify --operator alpha --user test-1 --token 5caa4cabce523c2f7610c50ce9819bfb' },
    {
      line: 'certify --operator alpha --wallet https://sandbox.alpha.example --user test-1 --token ...',
      note: 'another address than the one in the file',
    },
    { line: 'certify --operator alpha --user test-1 --token ... --only settle rollback --strict' },
  );
}

async function certifyWallet(terminal: Terminal, options: Options): Promise<void> {
  const { strict = false, iKnow = false, only = GROUPS, json = false } = options;
  const operator = await operatorToCertify(terminal.env, { ...options, strict });
  // Imported here: the wallets' HTTP client takes time that no other command should pay.
  const { certify, Refused } = await import('../../certify/run.ts');
  const certificate = await untilInterrupted(
    () => terminal.tell(STOPPING),
    (signal) =>
      certify({
        ...operator,
        strict,
        groups: only,
        iKnow,
        wagergate: pkg.version,
        clock: systemClock,
        signal,
        onProgress: (event) => {
          if (event.kind === 'warning') terminal.tell(`warning: ${plain(event.text)}`);
          else terminal.tell(`${event.at}/${event.of} ${event.one.id}`);
        },
      }),
  ).catch((error: unknown) => {
    throw error instanceof Refused ? new UsageError(`not certified: ${error.message}`) : error;
  });
  const files = await writeCertificate(options.out, certificate);
  if (json) terminal.printJson(certificate);
  else terminal.print(certificateText(certificate, mayColour(terminal)));
  terminal.tell(`written: ${files.join(', ')}`);
  if (certificate.result === 'passed') return;
  const { failed } = certificate.counts;
  throw new CommandFailed(`${failed === 1 ? '1 case' : `${failed} cases`} failed: see the report`);
}

const STOPPING = 'stopping: stakes are given back first; press Ctrl-C again to end at once';

/** A terminal has columns, a pipe has none; see also https://no-color.org. */
function mayColour({ columns, env }: Terminal): boolean {
  return columns !== undefined && !env.NO_COLOR;
}
