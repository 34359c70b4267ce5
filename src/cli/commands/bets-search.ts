import { Command, InvalidArgumentError, Option } from 'commander';
import { BET_STATES, type BetState } from '../../domain/bet-state.ts';
import { plain } from '../../lib/plain-text.ts';
import { columns, table } from '../../lib/table.ts';
import { type BetCursor, BetSearch, betCursorOf } from '../../store/bets/search.ts';
import type { FoundBet } from '../../store/bets/search-statements.ts';
import { withDatabase } from '../database.ts';
import { withExamples } from '../help.ts';
import { readAmount, readTime } from '../query-options.ts';
import type { Terminal } from '../terminal.ts';
import { timeOf } from '../text/bet-text.ts';
import { warnOfUnknownOperator } from '../unknown-operator.ts';

interface Options {
  readonly operator?: string;
  readonly operatorUser?: string;
  readonly userId?: string;
  readonly state?: BetState;
  readonly amount?: string;
  readonly from?: Date;
  readonly to?: Date;
  readonly cursor?: BetCursor;
  readonly json?: true;
}

/** `wagergate bets search`: bets by player, operator, state, stake and time. */
export function betsSearchCommand(terminal: Terminal): Command {
  const command = new Command('search')
    .summary('finds bets by player, operator, state, stake and time')
    .description('Finds bets, newest first, fifty per page.')
    .option('--operator <id>', 'only of this operator')
    .option('--operator-user <id>', 'only of the player with this id at the operator')
    .option('--user-id <id>', 'only of the player whom the service knows by this id')
    .addOption(new Option('--state <state>', 'only in this state').choices(BET_STATES))
    .option('--amount <amount>', 'only of this stake, such as 12.50', readAmount)
    .option('--from <time>', 'from this time or day (UTC) on', readTime)
    .option('--to <time>', 'before this time or day (UTC)', readTime)
    .option('--cursor <cursor>', 'continue where the previous list ended', readCursor)
    .option('--json', 'print {items, nextCursor} as JSON')
    .action((options: Options) => search(terminal, options));
  return withExamples(
    command,
    { line: 'bets search --operator alpha --operator-user jane' },
    { line: 'bets search --state unknown --from 2026-11-01' },
  );
}

async function search(terminal: Terminal, { json, ...query }: Options): Promise<void> {
  const page = await withDatabase(terminal, (database) => new BetSearch(database).page(query));
  if (json) {
    terminal.printJson(page);
    return;
  }
  if (page.items.length === 0) {
    terminal.tell('no such bets');
    if (query.operator !== undefined) warnOfUnknownOperator(terminal, undefined, query.operator);
  } else terminal.print(table(COLUMNS, page.items.map(cells)));
  if (page.nextCursor !== null) terminal.tell(`there are more: add --cursor ${page.nextCursor}`);
}

const COLUMNS = columns([
  ...['created (UTC)', 'transactionId', 'operator', 'player', 'state', 'stake', 'result'],
]);

function cells(bet: FoundBet): string[] {
  const { settlement, amount, currency } = bet;
  return [
    timeOf(bet.createdAt),
    bet.transactionId,
    bet.operator ?? '-',
    bet.operatorUser ?? '-',
    bet.state,
    amount === null ? '-' : `${amount} ${currency ?? ''}`,
    settlement.amount === null ? '-' : `${settlement.resultType ?? '-'} ${settlement.amount}`,
  ].map(plain);
}

function readCursor(text: string): BetCursor {
  const cursor = betCursorOf(text);
  if (cursor !== undefined) return cursor;
  throw new InvalidArgumentError('It must be the cursor that the previous list printed.');
}
