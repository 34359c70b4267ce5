import { Command, Option } from 'commander';
import { describeProblem } from '../../config/problems.ts';
import { PAUSE_MS_MAX } from '../../config/schema/delivery-schema.ts';
import { RESULT_TYPES, type ResultType } from '../../domain/bet.ts';
import { BY_CHARS_MAX } from '../../domain/caller.ts';
import type { FoundAtWallet } from '../../domain/resolve.ts';
import { unreachable } from '../../domain/unreachable.ts';
import { plain } from '../../lib/plain-text.ts';
import { deliverySettings } from '../../operations/operator-settings.ts';
import { resolveResult } from '../../operations/resolve-result.ts';
import { type ResultItem, UnknownResults } from '../../store/bets/unknown-results.ts';
import { byOf, notBlank } from '../caller.ts';
import { loadValid } from '../configuration.ts';
import { withDatabase } from '../database.ts';
import { CommandFailed, UsageError } from '../failures.ts';
import { withExamples } from '../help.ts';
import { readAmount } from '../query-options.ts';
import type { Terminal } from '../terminal.ts';

interface Options {
  readonly holds: 'stake' | 'result';
  readonly amount?: string;
  readonly resultType?: ResultType;
  readonly by: string;
  readonly reason: string;
  readonly folder?: string;
  readonly json?: true;
}

/** `wagergate bets resolve`: a person ends the doubt about a bet's result. */
export function betsResolveCommand(terminal: Terminal): Command {
  const command = new Command('resolve')
    .summary('ends the doubt about a result that got no answer')
    .description(
      'Records what the wallet holds for a bet in the state settlement_unknown: a result was sent, its answer was ' +
        'lost, and the service does not send it again. Look into its own books first, and correct ' +
        'them there: nothing is sent to the wallet. From then on the service gets 200 if it asks for the ' +
        'result that you name anew; any other is sent. A request that it was answered 200 or 400 for keeps its ' +
        'answer. It cannot be taken back. Refused while a lost call may still take ' +
        'effect, and for what the service was answered 200. Who and why are kept in the journal.',
    )
    .argument('<transactionId>', 'the bet')
    .addOption(
      new Option('--holds <what>', 'what the wallet holds: the stake only, or a result as well')
        .choices(['stake', 'result'])
        .makeOptionMandatory(),
    )
    .option('--amount <amount>', 'of the result: what it pays, such as 12.50, or 0', readAmount)
    .addOption(new Option('--result-type <type>', 'of the result').choices(RESULT_TYPES))
    .requiredOption(
      '--by <who>',
      'who answers for it: a person, or a ticket',
      notBlank('--by', BY_CHARS_MAX),
    )
    .requiredOption('--reason <why>', 'what was found or done there', notBlank('--reason'))
    .option('--folder <dir>', 'the configuration folder (default: GATEWAY_CONFIG, else ./config)')
    .option('--json', 'print the result as JSON')
    .action((transactionId: string, options: Options) => resolve(terminal, transactionId, options));
  const record = '--by "Ann, OPS-17" --reason "paid, says their support"';
  return withExamples(
    command,
    { line: `bets resolve BET --holds stake ${record.replace('paid', 'not paid')}` },
    { line: `bets resolve BET --holds result --amount 12.50 --result-type won ${record}` },
  );
}

async function resolve(terminal: Terminal, transactionId: string, options: Options): Promise<void> {
  const { by: who, reason: why } = options;
  const word = { found: foundIn(options), who, why, by: byOf({ reason: why }) };
  const confirmAfterMs = await confirmAfterMsOf(terminal, options.folder);
  const result = await withDatabase(terminal, (database) =>
    resolveResult(new UnknownResults(database), transactionId, word, confirmAfterMs),
  );
  const name = `bet ${plain(transactionId)}`;
  switch (result.kind) {
    case 'missing':
      throw new CommandFailed(
        `no ${name}: \`wagergate bets search --state settlement_unknown\` lists those in doubt`,
      );
    case 'refused':
      throw new CommandFailed(`${name} stays as it is. ${result.why}`);
    case 'resolved': {
      if (options.json) terminal.printJson(result.item);
      else terminal.print(`${name}: ${words(result.item)}`);
      return;
    }
    default:
      return unreachable(result);
  }
}

/** @returns how late a wallet may be by its operator's settings; without any, the longest that these may say */
async function confirmAfterMsOf(
  terminal: Terminal,
  option: string | undefined,
): Promise<(operatorId: string) => number> {
  const { folder, configuration, problems } = await loadValid(terminal.env, option);
  if (configuration !== undefined) {
    return (operatorId) => deliverySettings(configuration, operatorId).confirmUnknownAfterMs;
  }
  const why = problems[0] === undefined ? '' : ` (${describeProblem(problems[0])})`;
  const late = 'any wallet may be late for ten days';
  terminal.tell(plain(`warning: ${folder} is not valid${why}: ${late}`));
  return () => PAUSE_MS_MAX;
}

function words({ settlement: { state, amount, resultType } }: ResultItem): string {
  return state === 'settled'
    ? `its result is ${resultType} ${amount}`
    : 'it has no result; the stake is in play';
}

/** @throws UsageError unless a result has both its amount and its type, and a stake neither */
function foundIn({ holds, amount, resultType }: Options): FoundAtWallet {
  if (holds === 'stake') {
    if (amount === undefined && resultType === undefined) return { kind: 'stake' };
    throw new UsageError('--amount and --result-type go with --holds result');
  }
  if (amount === undefined || resultType === undefined) {
    throw new UsageError('say which result the wallet holds: --amount and --result-type');
  }
  return { kind: 'result', amount, resultType };
}
