import type { Problem } from './problems.ts';
import type { Configuration, OperatorConfig } from './schema/schema.ts';
import { doubtfulDialect } from './warnings/doubtful-dialect.ts';
import { doubtfulSettings } from './warnings/doubtful-settings.ts';
import { weakOfGateway, weakOfOperator } from './warnings/weak-secrets.ts';

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
  /** Files that were passed over at the last reading. */
  #passedOver: ReadonlySet<string> = new Set();

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
    warn('config.doubtful_dialect', changed.flatMap(doubtfulDialect));
    warn('config.doubtful_setting', changed.flatMap(doubtfulSettings));
  }

  /**
   * Files that are not read: a person may believe that such an operator is live.
   * @param isKnown whether another process has already logged them
   */
  filesPassedOver(passedOver: readonly Problem[], isKnown = false): void {
    const before = this.#passedOver;
    this.#passedOver = new Set(passedOver.map(({ file }) => file));
    if (isKnown) return;
    const added = passedOver.filter(({ file }) => !before.has(file));
    for (const problem of added.slice(0, LOGGED_MAX)) {
      this.#logger.warn({ ...problem }, 'config.file_passed_over');
    }
    const left = added.length - LOGGED_MAX;
    if (left > 0) this.#logger.warn({ files: left }, 'config.more_files_passed_over');
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
