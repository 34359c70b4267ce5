import type { Problem } from './problems.ts';
import type { Configuration, OperatorConfig } from './schema/schema.ts';
import { doubtfulSettings, weakOfGateway, weakOfOperator } from './warnings.ts';

/** The most problems that a reload logs; `config check` shows all. */
const LOGGED_MAX = 100;

/** The part of a pino logger that is needed here. */
export interface ConfigurationLogger {
  info(facts: object, message: string): void;
  warn(facts: object, message: string): void;
  error(facts: object, message: string): void;
}

/** Logs facts about the configuration, most of them once when they are new rather than at every reload. */
export class ConfigurationLog {
  readonly #logger: ConfigurationLogger;

  constructor(logger: ConfigurationLogger) {
    this.#logger = logger;
  }

  /** What is invalid. Logged at every reload, because the last good version stays in force meanwhile. */
  problems(problems: readonly Problem[]): void {
    for (const problem of problems.slice(0, LOGGED_MAX)) {
      this.#logger.error({ ...problem }, 'config.invalid');
    }
    const left = problems.length - LOGGED_MAX;
    if (left > 0) this.#logger.error({ problems: left }, 'config.more_invalid');
  }

  /** Logs that a reload has put `next` into force. */
  changed(next: Configuration, previous: Configuration): void {
    announceRisks(this.#logger, next, previous);
    this.warnings(next, previous);
  }

  /** Settings that are accepted but should be improved. @param previous undefined at start-up */
  warnings({ gateway, operators }: Configuration, previous: Configuration | undefined): void {
    const isNew = (operator: OperatorConfig) => operator !== previous?.operators.get(operator.id);
    const changed = [...operators.values()].filter(isNew);
    const weak = gateway === previous?.gateway ? [] : weakOfGateway(gateway);
    const warn = (message: string, problems: readonly Problem[]) => {
      for (const problem of problems) this.#logger.warn({ ...problem }, message);
    };
    warn('config.weak_secret', [...weak, ...changed.flatMap(weakOfOperator)]);
    warn('config.doubtful_setting', changed.flatMap(doubtfulSettings));
  }
}

/** Warns about changes that can cost money if they were a mistake; they are already in force. */
function announceRisks(
  logger: ConfigurationLogger,
  next: Configuration,
  previous: Configuration,
): void {
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
    const warn = (message: string, change: { from: unknown; to: unknown }, note: string) =>
      logger.warn({ operator, ...change, note }, message);
    if (from.baseUrl !== to.baseUrl) {
      const change = { from: from.baseUrl, to: to.baseUrl };
      warn('config.wallet_moved', change, 'its bets are sent to another address from now on');
    }
    const generations = { from: from.generation, to: to.generation };
    if (from.generation > to.generation) {
      warn(
        'config.wallet_generation_lowered',
        generations,
        'operations of bets of the newer generation are held until released; once older bets are released to that generation, places are refused as well',
      );
    }
    if (from.generation < to.generation) {
      const note = 'operations of bets of an older generation are held until released';
      warn('config.wallet_generation', generations, note);
    }
  }
}
