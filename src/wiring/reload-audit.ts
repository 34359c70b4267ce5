import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { Configuration } from '../config/schema.ts';
import { changesBetween } from '../config/settings-diff.ts';
import type { ConfigurationSource, ReloadResult } from '../config/source.ts';
import type { AuditLog } from '../store/audit/audit-log.ts';
import type { Authority } from '../store/audit/audited.ts';
import type { Logger } from '../telemetry/logger.ts';

export interface ReloadAuditOptions {
  readonly source: ConfigurationSource;
  readonly audit: Pick<AuditLog, 'append'>;
  readonly logger: Logger;
}

/** Nobody asked: a file was changed, or the process was sent SIGHUP. */
const BY_ITSELF: Authority = {
  caller: { actor: 'configuration', role: 'admin', address: hostname() },
};

/** Writes down who had the configuration read again, and what became different. */
export class ReloadAudit {
  readonly #options: ReloadAuditOptions;
  /** Fingerprints of secrets are compared with each other only, so the key is nobody's. */
  readonly #key = randomUUID();
  /** A person's reload is under way, whose row tells of what changes. */
  #isAsked = false;
  #lastReload: Promise<unknown> = Promise.resolve();
  /** One after the other: rows come in the order of the changes, however much each has changed. */
  #lastCompared: Promise<unknown> = Promise.resolve();

  constructor(options: ReloadAuditOptions) {
    this.#options = options;
  }

  /** Notes every change that comes by itself, until the returned function is called. */
  watch(): () => void {
    return this.#options.source.onChange((next, previous) => {
      if (!this.#isAsked) void this.#note(BY_ITSELF, next, previous, 'ok');
    });
  }

  /** Reloads by a person's word, which is on record also where nothing changed. */
  async reload(by: Authority): Promise<ReloadResult> {
    const reload = this.#lastReload.then(() => this.#reload());
    this.#lastReload = reload.catch(() => undefined);
    const { result, next, previous } = await reload;
    await this.#note(by, next, previous, result.result);
    return result;
  }

  /** For one person at a time, so that each is told to have changed what it was. */
  async #reload() {
    const { source } = this.#options;
    const previous = source.current;
    this.#isAsked = true;
    try {
      const result = await source.reload();
      return { result, next: source.current, previous };
    } finally {
      // Before it is on record: what changes by itself meanwhile is a row of its own.
      this.#isAsked = false;
    }
  }

  /** What is in force is in force: a record that cannot be written is an alarm, no failure. */
  async #note(
    by: Authority,
    next: Configuration,
    previous: Configuration,
    result: ReloadResult['result'],
  ): Promise<void> {
    const compared = this.#lastCompared.then(() => changesBetween(previous, next, this.#key));
    this.#lastCompared = compared.catch(() => undefined);
    try {
      const changes = await compared;
      await this.#options.audit.append(by, {
        action: 'configuration.reload',
        subject: `configuration of ${hostname()}`,
        after: { result, changes },
      });
    } catch (error) {
      this.#options.logger.error({ err: error, actor: by.caller.actor }, 'audit.not_written');
    }
  }
}
