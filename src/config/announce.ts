import type { Configuration } from './schema.ts';

/** The part of a pino logger that is needed here. */
interface Announcer {
  warn(facts: object, message: string): void;
}

/** Says loudly what of a reload can cost money if it was not meant: it has happened by then. */
export function announce(logger: Announcer, next: Configuration, previous: Configuration): void {
  for (const [operator, before] of previous.operators) {
    const after = next.operators.get(operator);
    if (after === undefined) {
      logger.warn(
        { operator, note: 'all of its deliveries are held until its file returns' },
        'config.operator_removed',
      );
      continue;
    }
    const [from, to] = [before.wallet, after.wallet];
    if (from.baseUrl !== to.baseUrl) {
      logger.warn(
        {
          operator,
          from: from.baseUrl,
          to: to.baseUrl,
          note: 'its bets are sent to another address from now on',
        },
        'config.wallet_moved',
      );
    }
    if (from.generation > to.generation) {
      logger.warn(
        {
          operator,
          from: from.generation,
          to: to.generation,
          note: 'operations of bets of the newer generation are held until released; once older bets are released to that generation, places are refused as well',
        },
        'config.wallet_generation_lowered',
      );
    }
    if (from.generation < to.generation) {
      logger.warn(
        {
          operator,
          from: from.generation,
          to: to.generation,
          note: 'operations of bets of an older generation are held until released',
        },
        'config.wallet_generation',
      );
    }
  }
}
