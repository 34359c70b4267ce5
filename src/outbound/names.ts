import type { LookupAddress, LookupAllOptions } from 'node:dns';
import type { Clock } from '../domain/clock.ts';

/** `dns.lookup`, asking for all addresses. */
export type AddressLookup = (
  hostname: string,
  options: LookupAllOptions,
  done: (error: Error | null, found: LookupAddress[]) => void,
) => void;

/** A caller that needs a name's addresses. */
export interface Asker {
  readonly done: (error: Error | null, found: LookupAddress[]) => void;
  /** Called before `done` if known addresses are used instead; once until the name is answered in time again. */
  readonly onUnanswered: () => void;
}

/** A name that takes longer counts as slow until it is answered faster. */
const SLOW_MS = 1_000;
/**
 * For this long after a name was slow, callers do not wait for it. Later they do again: this process may have
 * been suspended, and the wallet may be another machine by now, with other books.
 */
const NOT_WAITED_FOR_MS = 60_000;
/** How long known addresses are used after their name was last answered (RFC 8767 allows days). */
const KEPT_MS = 3_600_000;

interface Name {
  readonly hostname: string;
  readonly options: LookupAllOptions;
  state: 'idle' | 'queued' | 'asked';
  /** When its present query was requested. */
  wantedAtMs: number;
  /** When its last query ended, if that was slow. */
  slowAtMs: number | undefined;
  /** Whether the use of known addresses was reported. */
  isTold: boolean;
  known: { readonly found: LookupAddress[]; readonly atMs: number } | undefined;
  waiting: Set<Asker>;
}

export interface NamesOptions {
  readonly resolve: AddressLookup;
  readonly clock: Clock;
  /** The most concurrent queries: each occupies a thread until it is answered. */
  readonly atOnce: number;
}

/**
 * Name resolution for all wallets of this process. An operator whose name servers do not answer must not
 * affect others (I7):
 * - one query per name serves all connections that wait for it;
 * - names that were slow use half of the threads at most;
 * - a name that is not answered within a second, or fails temporarily, keeps its last addresses for an
 *   hour. A name that no longer exists has none.
 */
export class Names {
  readonly #options: NamesOptions;
  readonly #slowAtOnce: number;
  /** Bounded by the names that were ever configured. */
  readonly #names = new Map<string, Name>();
  readonly #queue: Name[] = [];
  #asked = 0;
  #slowAsked = 0;

  constructor(options: NamesOptions) {
    this.#options = options;
    this.#slowAtOnce = Math.max(1, Math.floor(options.atOnce / 2));
  }

  /** @param options the first caller's are used; all callers of a name have the same */
  find(hostname: string, options: LookupAllOptions, asker: Asker): void {
    const name = this.#nameOf(hostname, options);
    if (this.#knownOf(name) === undefined) name.waiting.add(asker);
    else if (this.#isSlow(name)) process.nextTick(() => this.#tellKnown(name, asker, null));
    else name.waiting.add(this.#impatient(name, asker));
    if (name.state !== 'idle') return;
    name.state = 'queued';
    name.wantedAtMs = this.#options.clock.monotonicMs();
    this.#queue.push(name);
    this.#askNext();
  }

  #nameOf(hostname: string, options: LookupAllOptions): Name {
    const there = this.#names.get(hostname);
    if (there !== undefined) return there;
    const made: Name = {
      hostname,
      options,
      state: 'idle',
      wantedAtMs: 0,
      slowAtMs: undefined,
      isTold: false,
      known: undefined,
      waiting: new Set(),
    };
    this.#names.set(hostname, made);
    return made;
  }

  #askNext(): void {
    while (this.#asked < this.#options.atOnce) {
      const mayBeSlow = this.#slowAsked < this.#slowAtOnce;
      const index = this.#queue.findIndex(({ slowAtMs }) => mayBeSlow || slowAtMs === undefined);
      const [name] = index < 0 ? [] : this.#queue.splice(index, 1);
      if (name === undefined) return;
      this.#ask(name);
    }
  }

  #ask(name: Name): void {
    const { clock, resolve } = this.#options;
    const askedAtMs = clock.monotonicMs();
    const slow = name.slowAtMs === undefined ? 0 : 1;
    name.state = 'asked';
    this.#asked += 1;
    this.#slowAsked += slow;
    resolve(name.hostname, name.options, (error, found) => {
      this.#asked -= 1;
      this.#slowAsked -= slow;
      name.state = 'idle';
      const nowMs = clock.monotonicMs();
      name.slowAtMs = nowMs - askedAtMs >= SLOW_MS ? nowMs : undefined;
      this.#answer(name, error, found ?? []);
      this.#askNext();
    });
  }

  #answer(name: Name, error: Error | null, found: LookupAddress[]): void {
    const { waiting } = name;
    name.waiting = new Set();
    if (error === null) {
      name.known = { found, atMs: this.#options.clock.monotonicMs() };
      if (name.slowAtMs === undefined) name.isTold = false;
      for (const { done } of waiting) done(null, found);
      return;
    }
    if (!isTemporary(error)) name.known = undefined;
    for (const asker of waiting) this.#tellKnown(name, asker, error);
  }

  /** If there are known addresses, wait for newer ones only until the name counts as slow. */
  #impatient(name: Name, asker: Asker): Asker {
    const timer = setTimeout(() => {
      name.waiting.delete(waiting);
      this.#tellKnown(name, asker, null);
    }, SLOW_MS);
    const waiting: Asker = {
      ...asker,
      done: (error, found) => {
        clearTimeout(timer);
        asker.done(error, found);
      },
    };
    return waiting;
  }

  /** Whether its query takes too long, or did so recently. */
  #isSlow({ state, wantedAtMs, slowAtMs }: Name): boolean {
    const nowMs = this.#options.clock.monotonicMs();
    if (state !== 'idle' && nowMs - wantedAtMs >= SLOW_MS) return true;
    return slowAtMs !== undefined && nowMs - slowAtMs < NOT_WAITED_FOR_MS;
  }

  #tellKnown(name: Name, { done, onUnanswered }: Asker, error: Error | null): void {
    const known = this.#knownOf(name);
    if (known !== undefined && !name.isTold) {
      name.isTold = true;
      onUnanswered();
    }
    if (known === undefined) done(error, []);
    else done(null, known);
  }

  #knownOf({ known }: Name): LookupAddress[] | undefined {
    if (known === undefined) return undefined;
    return this.#options.clock.monotonicMs() - known.atMs < KEPT_MS ? known.found : undefined;
  }
}

/** No name server answered, or it could not resolve the name; any other error is an answer. */
function isTemporary(error: Error): boolean {
  return 'code' in error && error.code === 'EAI_AGAIN';
}
