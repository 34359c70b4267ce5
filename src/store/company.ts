export interface CompanyOptions {
  /** So long at most one waits for others. */
  readonly waitMs: number;
  /** So many do not wait any longer. */
  readonly enough: number;
}

/** Where rows that nobody waits for gather, so that one statement writes many of them. */
export class Company {
  readonly #options: CompanyOptions;
  #gathered: (() => void)[] = [];
  #timer: NodeJS.Timeout | undefined;

  constructor(options: CompanyOptions) {
    this.#options = options;
  }

  /** Resolves when there are enough, when `leave` is called, or when the first has waited long enough. */
  join(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#gathered.push(resolve);
    if (this.#gathered.length >= this.#options.enough) this.leave();
    else this.#timer ??= setTimeout(() => this.leave(), this.#options.waitMs);
    return promise;
  }

  /** Somebody goes who cannot wait: whoever is here goes along. */
  leave(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const gathered = this.#gathered;
    this.#gathered = [];
    for (const go of gathered) go();
  }
}
