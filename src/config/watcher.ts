/** How often the folder is examined; with two more checks, a change is in force within 2 s. */
const INTERVAL_MS = 400;

/** A folder that keeps changing is read anyway after this many checks. */
const CHECKS_MAX = 3;

export interface WatcherDependencies {
  /** What has changed since the configuration was read; empty if nothing has. */
  readonly changes: () => string | Promise<string>;
  /** Reloads the configuration. */
  readonly onChange: () => Promise<unknown>;
  readonly onError: (error: unknown) => void;
  readonly intervalMs?: number;
}

/**
 * Polls the folder: notifications do not work through ConfigMaps, bind mounts and network file systems.
 * A change is applied once it checks the same twice, because an editor may rename.
 */
export class Watcher {
  readonly #dependencies: WatcherDependencies;
  #timer: NodeJS.Timeout | undefined;
  #pending = { changes: '', checks: 0 };
  #closed = false;

  constructor(dependencies: WatcherDependencies) {
    this.#dependencies = dependencies;
    this.#sleep();
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
  }

  #sleep(): void {
    if (this.#closed) return;
    const { intervalMs = INTERVAL_MS } = this.#dependencies;
    this.#timer = setTimeout(() => void this.#check(), intervalMs).unref();
  }

  async #check(): Promise<void> {
    try {
      const changes = await this.#dependencies.changes();
      if (!this.#closed && this.#atRest(changes)) await this.#dependencies.onChange();
    } catch (error) {
      this.#dependencies.onError(error);
    } finally {
      this.#sleep();
    }
  }

  #atRest(changes: string): boolean {
    const { changes: before, checks } = this.#pending;
    const taken = changes !== '' && (changes === before || checks + 1 >= CHECKS_MAX);
    this.#pending =
      changes === '' || taken ? { changes: '', checks: 0 } : { changes, checks: checks + 1 };
    return taken;
  }
}
