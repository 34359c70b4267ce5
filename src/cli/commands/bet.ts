import { Command } from 'commander';
import { plain } from '../../lib/plain-text.ts';
import { BetTimelines } from '../../store/bets/timeline.ts';
import { DeliveryHolds } from '../../store/deliveries/holds.ts';
import { withPrisma } from '../database.ts';
import { CommandFailed } from '../failures.ts';
import { withExamples } from '../help.ts';
import type { Terminal } from '../terminal.ts';
import { betText } from '../text/bet-text.ts';

interface Options {
  readonly json?: true;
}

/** `wagergate bet`: everything the journal knows about one bet. */
export function betCommand(terminal: Terminal): Command {
  const command = new Command('bet')
    .summary('tells the story of a bet')
    .description(
      'Tells the story of a bet from the journal of DATABASE_URL: its operations in order, what ' +
        'the service was answered, every attempt at the wallet, and what is still to be delivered.',
    )
    .argument('<transactionId>', 'the bet, as the service calls it')
    .option('--json', 'print it as JSON, with the requests as the service sent them')
    .action((transactionId: string, options: Options) => show(terminal, transactionId, options));
  return withExamples(
    command,
    { line: 'bet 6531f9bc-0e5d-4f10-8c67-0d9d0ba3ab6d' },
    { line: 'bet 6531f9bc-0e5d-4f10-8c67-0d9d0ba3ab6d --json' },
  );
}

async function show(terminal: Terminal, transactionId: string, { json }: Options): Promise<void> {
  // An operator uses the operator API; anybody with the database's address may see every bet.
  const bet = await withPrisma(terminal, async (prisma) => {
    // Only the gateway's processes know about breakers and maintenance.
    const heldNow = async () => {
      const byPeople = await new DeliveryHolds(prisma).all();
      return (operatorId: string) => byPeople.has(operatorId);
    };
    // Without a limit: this process has nothing else to do.
    const timelines = new BetTimelines(prisma, heldNow, Number.MAX_SAFE_INTEGER);
    return await timelines.find(transactionId, undefined);
  });
  if (bet === undefined) {
    throw new CommandFailed(
      `no bet ${plain(transactionId)} in the journal: it is compared exactly, check the id ` +
        'and DATABASE_URL. An ended bet also goes when its month is pruned: the statement of its day ' +
        'still names it (`wagergate books statement --operator ID --day DAY --csv`)',
    );
  }
  if (!json) {
    terminal.print(betText(bet));
    return;
  }
  const operations = bet.operations.map((operation) => ({
    ...operation,
    request: operation.request.toString('utf8'),
  }));
  terminal.printJson({ ...bet, operations });
}
