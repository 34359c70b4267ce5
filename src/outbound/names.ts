import type { LookupAddress, LookupAllOptions } from 'node:dns';
import type { Clock } from '../domain/clock.ts';

/** `dns.lookup`, asking for all addresses. */
export type AddressLookup = (
  hostname: string,
  options: LookupAllOptions,
  done: (error: Error | null, found: LookupAddress[]) => void,
) => void;

/** Who needs a name's addresses. */
export interface Asker {
  readonly done: (error: Error | null, found: LookupAddress[]) => void;
  /** Told before `done`, once until the name is answered in time again: known addresses are used instead. */
  readonly onUnanswered: () => void;
}

/** A name that takes longer is slow, until it is answered sooner. */
const SLOW_MS = 1_000;
/**
 * Nobody waits for a name so long after it was slow. Later it is waited for again: this process may have
 * stood still, and its wallet may be another machine by now, with other books.
 */
const NOT_WAITED_FOR_MS = 60_000;
/** Known addresses are used so long after their name was last answered (RFC 8767 allows for days). */
const KEPT_MS = 3_600_000;

interface Name {
  readonly hostname: string;
  readonly options: LookupAllOptions;
  state: 'idle' | 'queued' | 'asked';
  /** When it was last wanted and not under way already. */
  wantedAtMs: number;
  /** When its last question ended, where that was slow. */
  slowAtMs: number | undefined;
  /** Whether somebody was told that known addresses are used. */
  isTold: boolean;
  known: { readonly found: LookupAddress[]; readonly atMs: number } | undefined;
  waiting: Set<Asker>;
}

export interface NamesOptions {
  readonly resolve: AddressLookup;
  readonly clock: Clock;
  /** How many questions may be under way at once: each occupies a thread until it is answered. */
  readonly atOnce: number;
}

/**
 * Name resolution for all wallets of this process, so that operators whose name servers do not answer
 * are felt by nobody else (I7):
 * - a name is asked for once, for all connections that wait for it;
 * - names that were slow have half of the threads at most;
 * - a name that is not answered within a second, or only by a temporary failure, has the addresses that
 *   it had last, for an hour. One that does not exist any more has none.
 */
export class Names {
  readonly #options: NamesOptions;
  readonly #slowAtOnce: number;
  /** As many as the configuration has ever named. */
  readonly #names = new Map<string, Name>();
  readonly #queue: Name[] = [];
  #asked = 0;
  #slowAsked = 0;

  constructor(options: NamesOptions) {
    this.#options = options;
    this.#slowAtOnce = Math.max(1, Math.floor(options.atOnce / 2));
  }

  /** @param options of whoever asks first; all who ask for a name have the same */
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

  /** Whoever can do with known addresses waits for newer ones until the name counts as slow. */
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

  /** Whether it takes too long now, or did so a moment ago. */
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

/** No name server has answered, or it could not find out; anything else is an answer. */
function isTemporary(error: Error): boolean {
  return 'code' in error && error.code === 'EAI_AGAIN';
}
