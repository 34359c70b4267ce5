import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { Configuration } from '../config/schema/schema.ts';
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

/** No person asked for the reload: a file was changed, or the process received SIGHUP. */
const BY_ITSELF: Authority = {
  caller: { actor: 'configuration', role: 'admin', address: hostname() },
};

/** Records who reloaded the configuration, and what changed. */
export class ReloadAudit {
  readonly #options: ReloadAuditOptions;
  /** Fingerprints of secrets are only compared with each other, so any key will do. */
  readonly #key = randomUUID();
  /** A person's reload is under way, and its row records the changes. */
  #isRequested = false;
  #lastReload: Promise<unknown> = Promise.resolve();
  /** One comparison after the other: rows are in the order of the changes, however large each is. */
  #lastCompared: Promise<unknown> = Promise.resolve();

  constructor(options: ReloadAuditOptions) {
    this.#options = options;
  }

  /** Records every change that no person asked for, until the returned function is called. */
  watch(): () => void {
    return this.#options.source.onChange((next, previous) => {
      if (!this.#isRequested) void this.#note(BY_ITSELF, next, previous, 'ok');
    });
  }

  /** Reloads on a person's request, which is recorded even if nothing changed. */
  async reload(by: Authority): Promise<ReloadResult> {
    const reload = this.#lastReload.then(() => this.#reload());
    this.#lastReload = reload.catch(() => undefined);
    const { result, next, previous } = await reload;
    await this.#note(by, next, previous, result.result);
    return result;
  }

  /** One person's reload at a time, so that each row records only that person's changes. */
  async #reload() {
    const { source } = this.#options;
    const previous = source.current;
    this.#isRequested = true;
    try {
      const result = await source.reload();
      return { result, next: source.current, previous };
    } finally {
      // Before it is recorded: a change that nobody asked for meanwhile gets a row of its own.
      this.#isRequested = false;
    }
  }

  /** The configuration is already in force: a row that cannot be written is logged as an error, not thrown. */
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
