import { isDeepStrictEqual } from 'node:util';
import { inSlices } from '../lib/slices.ts';
import { ConfigurationLog, type ConfigurationLogger } from './configuration-log.ts';
import { ConfigFolder } from './folder/config-folder.ts';
import type { InForce } from './in-force.ts';
import { configurationOf, loadOver } from './loader.ts';
import { nextInForce } from './next-in-force.ts';
import { describeProblem, type Problem } from './problems.ts';
import type { Configuration } from './schema/schema.ts';
import { Watcher } from './watcher.ts';

/** What a reload did. */
export interface ReloadResult {
  /** `invalid` if any file is, even though the changes in the valid files are in force. */
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

/** What a reload would do. */
export interface PreviewedReload extends ReloadResult {
  /** What would be in force. */
  readonly candidate: Configuration;
}

/** Called after `current` has changed, with the new and the previous configuration. */
export type ConfigurationListener = (next: Configuration, previous: Configuration) => void;

export interface ConfigurationSourceOptions {
  readonly folder: string;
  /** Where `${NAME}` is looked up. */
  readonly env: NodeJS.ProcessEnv;
  readonly logger: ConfigurationLogger;
  /** Called after every reload of this process, for metrics. */
  readonly onReload?: (result: ReloadResult) => void;
  /** The configuration in force in the processes next to this one; replaces invalid files at start-up. */
  readonly lastGood?: InForce | undefined;
  /** Makes the processes next to this one reload too. @returns their problems */
  readonly others?: () => Promise<readonly Problem[]>;
  /** How often `watch` examines the folder. */
  readonly watchIntervalMs?: number;
}

/** The outcome of the last reading of the configuration. */
export interface LastReload {
  /** When the configuration was last valid, ISO 8601 UTC. */
  readonly goodAt: string;
  /** `ok` if the files in the folder are in force. */
  readonly result: 'ok' | 'invalid';
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
  /** A separate reader: what a preview reads must not count as read by the watcher. */
  #previewed: ConfigFolder | undefined;
  #invalidFiles: readonly string[] = [];
  #goodAt = new Date(0);

  /**
   * @throws ConfigError without `lastGood` if `gateway.yaml` is invalid or the operators' folder cannot be listed
   */
  constructor(options: ConfigurationSourceOptions) {
    this.#options = options;
    this.#log = new ConfigurationLog(options.logger);
    this.#folder = new ConfigFolder(options.folder, options.env);
    const { inForce, problems } = loadOver(options.lastGood, this.#folder);
    this.#inForce = inForce;
    this.#noteReading(problems);
    this.#current = configurationOf(this.#inForce);
    this.#log.problems(problems);
    this.#log.warnings(this.#current, options.lastGood && configurationOf(options.lastGood));
  }

  /** The `lastGood` for a process that starts next to this one. */
  get inForce(): InForce {
    return this.#inForce;
  }

  /** What is in force now. */
  get current(): Configuration {
    return this.#current;
  }

  /** The files that were invalid when they were last read, relative to the folder. */
  get invalidFiles(): readonly string[] {
    return this.#invalidFiles;
  }

  get lastReload(): LastReload {
    return {
      goodAt: this.#goodAt.toISOString(),
      result: this.#invalidFiles.length === 0 ? 'ok' : 'invalid',
    };
  }

  /** @returns a function that removes the listener */
  onChange(listener: ConfigurationListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Reads the folder and puts what is valid into force, here and next to this process, before it resolves. */
  async reload(): Promise<ReloadResult> {
    const { others = async () => [] } = this.#options;
    const [here, elsewhere] = await Promise.all([this.#reloadHere(), others()]);
    const known = new Set(here.problems.map(describeProblem));
    const further = elsewhere.filter((problem) => !known.has(describeProblem(problem)));
    if (further.length === 0) return here;
    this.#log.problems(further);
    return { ...here, result: 'invalid', problems: [...here.problems, ...further] };
  }

  /** Reloads run one after the other. */
  #reloadHere(): Promise<ReloadResult> {
    const reload = this.#lastReload.then(() => this.#reload());
    this.#lastReload = reload.catch(() => undefined);
    return reload;
  }

  /** What a reload would do now; nothing comes into force, and no listener is called. */
  async preview(): Promise<PreviewedReload> {
    this.#previewed ??= new ConfigFolder(this.#options.folder, this.#options.env);
    const { result, candidate } = await this.#readFolder(this.#previewed);
    return { ...result, candidate };
  }

  /** What would be in force by the folder's present content, and what that would change. */
  async #readFolder(folder: ConfigFolder) {
    const content = await inSlices(folder.read());
    const { next = this.#inForce, problems } = nextInForce(content, this.#inForce);
    const candidate = configurationOf(next);
    const changed = compare(candidate, this.#current);
    const result: ReloadResult = {
      result: problems.length > 0 ? 'invalid' : 'ok',
      changed,
      problems,
    };
    return { next, candidate, result };
  }

  #noteReading(problems: readonly Problem[]): void {
    this.#invalidFiles = [...new Set(problems.map(({ file }) => file))].sort();
    if (problems.length === 0) this.#goodAt = new Date();
  }

  /** Reloads automatically within 2 s of a change, until `close`. Does not keep the process alive. */
  watch(): void {
    this.#watcher ??= new Watcher({
      changes: () => inSlices(this.#folder.changes()),
      onChange: () => this.#reloadHere(),
      onError: (error) => this.#options.logger.error({ err: error }, 'config.reload_failed'),
      ...(this.#options.watchIntervalMs && { intervalMs: this.#options.watchIntervalMs }),
    });
  }

  /** Stops watching; the configuration stays in force. */
  close(): void {
    this.#watcher?.close();
    this.#watcher = undefined;
  }

  async #reload(): Promise<ReloadResult> {
    const { next, candidate, result } = await this.#readFolder(this.#folder);
    const previous = this.#current;
    const isOther =
      isChange(result.changed) ||
      !isDeepStrictEqual(candidate.invalidOperators, previous.invalidOperators);
    this.#inForce = next;
    this.#noteReading(result.problems);
    // If nothing changed, keep the same object, so that comparing identities is enough.
    if (isOther) this.#current = candidate;
    this.#report(result);
    if (isOther) {
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

  /** One listener's failure must not keep the others from being called. */
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
