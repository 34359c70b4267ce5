import { inSlices } from '../lib/slices.ts';
import { ConfigFolder } from './config-folder.ts';
import { ConfigurationLog, type ConfigurationLogger } from './configuration-log.ts';
import type { InForce } from './in-force.ts';
import { linesOfProblems } from './line-of-path.ts';
import { configurationOf, loadOver } from './loader.ts';
import { describeProblem, type Problem } from './problems.ts';
import { reconcile } from './reconcile.ts';
import type { Configuration } from './schema.ts';
import { Watcher } from './watcher.ts';

/** What a reload did. */
export interface ReloadResult {
  /** `invalid` when any file is, although the changes of the others are in force. */
  readonly result: 'ok' | 'invalid';
  readonly changed: ConfigurationChanges;
  readonly problems: readonly Problem[];
}

export interface ConfigurationChanges {
  readonly gateway: boolean;
  /** Ids of operators. */
  readonly added: readonly string[];
  readonly updated: readonly string[];
  readonly removed: readonly string[];
}

/** What a reload would do, had it been asked for. */
export interface PreviewedReload extends ReloadResult {
  /** What would be in force. */
  readonly candidate: Configuration;
}

/** Called after `current` has changed, with what is in force now and what was before. */
export type ConfigurationListener = (next: Configuration, previous: Configuration) => void;

export interface ConfigurationSourceOptions {
  readonly folder: string;
  /** Where `${NAME}` is looked up. */
  readonly env: NodeJS.ProcessEnv;
  readonly logger: ConfigurationLogger;
  /** Told of every reload, for metrics. */
  readonly onReload?: (result: ReloadResult) => void;
  /**
   * What is in force beside this process, which stands in for files that are broken at the start;
   * default: then there is nothing to begin with, and all of them must be valid.
   */
  readonly lastGood?: InForce | undefined;
  /**
   * Has the processes beside this one, where there are some, reload too when that is asked for.
   * @returns what is wrong there
   */
  readonly others?: () => Promise<readonly Problem[]>;
  /** How often `watch` looks at the folder. */
  readonly watchIntervalMs?: number;
}

/** The configuration in force, and its changes while the gateway runs. */
export class ConfigurationSource {
  readonly #options: ConfigurationSourceOptions;
  readonly #folder: ConfigFolder;
  readonly #listeners = new Set<ConfigurationListener>();
  #inForce: InForce;
  #current: Configuration;
  readonly #log: ConfigurationLog;
  #lastReload: Promise<unknown> = Promise.resolve();
  #watcher: Watcher | undefined;
  /** A reader of its own: what it reads must not count as seen by the watcher. */
  #previewed: ConfigFolder | undefined;
  /** Whether every file was valid at the start. */
  readonly beganGood: boolean;

  /**
   * @throws ConfigError when any file is invalid and there is no `lastGood`: only a running gateway has
   *   a last good version
   */
  constructor(options: ConfigurationSourceOptions) {
    this.#options = options;
    this.#log = new ConfigurationLog(options.logger);
    this.#folder = new ConfigFolder(options.folder, options.env);
    const { inForce, problems, passedOver } = loadOver(options.lastGood, this.#folder);
    this.#inForce = inForce;
    this.beganGood = problems.length === 0;
    this.#current = configurationOf(this.#inForce);
    this.#log.problems(problems);
    this.#log.warnings(this.#current, options.lastGood && configurationOf(options.lastGood));
    // The processes beside which this one begins have logged them.
    this.#log.filesPassedOver(passedOver, options.lastGood !== undefined);
  }

  /** For a process that begins beside this one: its `lastGood`. */
  get inForce(): InForce {
    return this.#inForce;
  }

  /** What is in force now. */
  get current(): Configuration {
    return this.#current;
  }

  /** @returns a function that ends the listening */
  onChange(listener: ConfigurationListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /**
   * Reads the folder and puts what is valid into force, here and in the processes beside this one. Listeners are
   * called before this resolves, and only when something changed.
   */
  async reload(): Promise<ReloadResult> {
    const { others = async () => [] } = this.#options;
    const [here, elsewhere] = await Promise.all([this.#reloadHere(), others()]);
    const known = new Set(here.problems.map(describeProblem));
    const further = elsewhere.filter((problem) => !known.has(describeProblem(problem)));
    if (further.length === 0) return here;
    this.#log.problems(further);
    return { ...here, result: 'invalid', problems: [...here.problems, ...further] };
  }

  /** One reload after the other. */
  #reloadHere(): Promise<ReloadResult> {
    const reload = this.#lastReload.then(() => this.#reload());
    this.#lastReload = reload.catch(() => undefined);
    return reload;
  }

  /** What a reload would do at this moment; nothing comes into force, and nobody is told. */
  async preview(): Promise<PreviewedReload> {
    this.#previewed ??= new ConfigFolder(this.#options.folder, this.#options.env);
    const content = await inSlices(this.#previewed.read());
    const { next = this.#inForce, problems } = reconcile(content, this.#inForce);
    const candidate = configurationOf(next);
    const changed = compare(candidate, this.#current);
    return { result: problems.length > 0 ? 'invalid' : 'ok', changed, problems, candidate };
  }

  /** The line of each problem's setting in its file as it is now; undefined where it has none. */
  async linesOf(problems: readonly Problem[]): Promise<readonly (number | undefined)[]> {
    return await linesOfProblems(this.#options.folder, problems);
  }

  /** Reloads by itself, within 2 s of a change, until `close`. Does not keep the process alive. */
  watch(): void {
    this.#watcher ??= new Watcher({
      changes: () => inSlices(this.#folder.changes()),
      onChange: () => this.#reloadHere(),
      onError: (error) => this.#options.logger.error({ err: error }, 'config.reload_failed'),
      ...(this.#options.watchIntervalMs && { intervalMs: this.#options.watchIntervalMs }),
    });
  }

  /** Ends the watching; what is in force stays. */
  close(): void {
    this.#watcher?.close();
    this.#watcher = undefined;
  }

  async #reload(): Promise<ReloadResult> {
    const content = await inSlices(this.#folder.read());
    const { next = this.#inForce, problems } = reconcile(content, this.#inForce);
    const previous = this.#current;
    const candidate = configurationOf(next);
    const changed = compare(candidate, previous);
    this.#inForce = next;
    // Nothing changed: the same object, so that whoever compares sees it at once.
    if (isChange(changed)) this.#current = candidate;

    const result: ReloadResult = {
      result: problems.length > 0 ? 'invalid' : 'ok',
      changed,
      problems,
    };
    this.#report(result);
    this.#log.filesPassedOver(content.passedOver);
    if (isChange(changed)) {
      this.#log.changed(candidate, previous);
      for (const listener of this.#listeners) this.#guarded(() => listener(candidate, previous));
    }
    return result;
  }

  #report(result: ReloadResult): void {
    const { logger, onReload } = this.#options;
    this.#log.problems(result.problems);
    logger.info({ result: result.result, ...result.changed }, 'config.reloaded');
    if (onReload !== undefined) this.#guarded(() => onReload(result));
  }

  /** One listener's failure must not keep the change from the others. */
  #guarded(call: () => void): void {
    try {
      call();
    } catch (error) {
      this.#options.logger.error({ err: error }, 'config.listener_failed');
    }
  }
}

function compare(next: Configuration, previous: Configuration): ConfigurationChanges {
  const before = previous.operators;
  const ids = [...next.operators.keys()];
  return {
    gateway: next.gateway !== previous.gateway,
    added: ids.filter((id) => !before.has(id)),
    updated: ids.filter((id) => before.has(id) && before.get(id) !== next.operators.get(id)),
    removed: [...before.keys()].filter((id) => !next.operators.has(id)),
  };
}

function isChange({ gateway, added, updated, removed }: ConfigurationChanges): boolean {
  return gateway || added.length + updated.length + removed.length > 0;
}
