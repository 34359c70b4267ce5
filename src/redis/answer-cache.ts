import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import type { Clock } from '../domain/clock.ts';
import type { Accelerator } from './accelerator.ts';

/** A place's final answer and what it was given for: none of this can change any more. */
const finalPlace = z.object({
  userId: z.string(),
  amount: z.string(),
  currency: z.string(),
  operatorId: z.string(),
  status: z.number(),
  body: z.string(),
});

export type FinalPlace = z.infer<typeof finalPlace>;

/** An entry counts only in the epoch that it was written in, and for the database that the place is in. */
const entry = finalPlace.extend({ epoch: z.string(), databaseId: z.string() });

const EPOCH_KEY = 'answers-epoch';
/** The start of Redis in which no fence is missing. */
const RUN_KEY = 'answers-run';
/** Longer than any entry lives. */
const EPOCH_TTL_MS = 90 * 86_400_000;
/** For writing, an epoch may be this old: an entry of an older one is only a miss. */
const EPOCH_AGE_MS_MAX = 5_000;
/** The most missed fences that are written once Redis is back, for places that were in flight meanwhile. */
const MISSED_MAX = 10_000;
/** Until Redis has heard of a missed fence, it is told again this often. */
const RAISE_EVERY_MS = 250;

/** Answers of places that are given within this time are written together. */
const GATHER_MS = 10;

const FENCED = '-';

/**
 * Final answers of places, for while the journal cannot be asked. A rollback fences the bet's entry,
 * because from then on a copy of the place is refused. Where Redis could not hear of a fence, or may have forgotten
 * it while it was away, the epoch is raised before Redis is believed again, so that no entry outlives
 * its fence. Keys are the same for every database, so that a fence counts whoever wrote it: at worst one too many.
 */
export class AnswerCache {
  readonly #accelerator: Accelerator;
  readonly #databaseId: string;
  readonly #clock: Clock;
  readonly #ttlMs: () => number;
  #epoch: { readonly value: string; readonly readAtMs: number } | undefined;
  /** A fence could not be written, or may have been lost since: nothing in Redis is believed until the epoch is another one. */
  #raising: NodeJS.Timeout | undefined;
  /** Thousands of fences take longer than the time between two tries. */
  #isTrying = false;
  /** Something has happened since the try under way began: only an epoch that is raised later covers it. */
  #isOvertaken = false;
  readonly #missed = new Set<string>();
  #gathered: (readonly [key: string, place: FinalPlace])[] = [];
  /** Until it has taken what is gathered. */
  #writing: Promise<void> | undefined;

  /** @param databaseId entries of another one are a miss: gateways on several may share a Redis */
  constructor(accelerator: Accelerator, databaseId: string, clock: Clock, ttlMs: () => number) {
    this.#accelerator = accelerator;
    this.#databaseId = databaseId;
    this.#clock = clock;
    this.#ttlMs = ttlMs;
    // Restored from an older copy, it may have lost fences that it had confirmed.
    accelerator.onReturn(() => this.#startRaising());
  }

  /**
   * For a process that begins, before it answers anything: where Redis was started from its disk while nobody was
   * connected, nobody has heard that fences may be lost.
   */
  async begin(): Promise<void> {
    const run = await this.#accelerator.serverRun();
    if (run !== undefined && (await this.#accelerator.get(RUN_KEY)) === run) return;
    this.#startRaising();
    await this.#tryToRaise();
  }

  /**
   * Believes only a server that takes a write for this very key: one that does not has refused the fence as well,
   * and whoever could not write it may not be able to say so.
   * @returns undefined also for an entry that cannot be read or is of an epoch before this one
   */
  async find(transactionId: string): Promise<FinalPlace | undefined> {
    if (this.#raising !== undefined) return undefined;
    const [text, epoch] = await Promise.all([
      this.#accelerator.getWhereTaken(keyOf(transactionId)),
      this.#accelerator.get(EPOCH_KEY),
    ]);
    if (text === undefined || text === FENCED || epoch === undefined) return undefined;
    const read = entry.safeParse(jsonOf(text));
    if (!read.success || read.data.databaseId !== this.#databaseId) return undefined;
    if (read.data.epoch !== epoch || this.#raising !== undefined) return undefined;
    const { epoch: _, databaseId: __, ...place } = read.data;
    return place;
  }

  /**
   * Never overwrites the fence of a rollback. Within `GATHER_MS`, together with what else is to be
   * remembered: a command a place cost more than signing it.
   */
  remember(transactionId: string, place: FinalPlace): Promise<void> {
    this.#gathered.push([keyOf(transactionId), place]);
    this.#writing ??= this.#writeGathered();
    return this.#writing;
  }

  async #writeGathered(): Promise<void> {
    await sleep(GATHER_MS, undefined, { ref: false });
    const gathered = this.#gathered;
    this.#gathered = [];
    this.#writing = undefined;
    if (gathered.length === 0) return;
    const epoch = await this.#currentEpoch();
    if (epoch === undefined) return;
    const written = { epoch, databaseId: this.#databaseId };
    const entries = gathered.map(
      ([key, place]) => [key, JSON.stringify({ ...place, ...written })] as const,
    );
    await this.#accelerator.setAllIfAbsent(entries, this.#ttlMs());
  }

  /** From now on no copy of this place is answered from here. Call it before the rollback commits. */
  async fence(transactionId: string): Promise<void> {
    if (await this.#writeFence(transactionId)) return;
    if (this.#missed.size < MISSED_MAX) this.#missed.add(transactionId);
    this.#startRaising();
  }

  close(): void {
    clearInterval(this.#raising);
    this.#gathered = [];
  }

  async #writeFence(transactionId: string): Promise<boolean> {
    return await this.#accelerator.set(keyOf(transactionId), FENCED, this.#ttlMs());
  }

  async #currentEpoch(): Promise<string | undefined> {
    if (this.#raising !== undefined) return undefined;
    const nowMs = this.#clock.monotonicMs();
    if (this.#epoch !== undefined && nowMs - this.#epoch.readAtMs < EPOCH_AGE_MS_MAX) {
      return this.#epoch.value;
    }
    const made = randomUUID();
    const isMine = await this.#accelerator.setIfAbsent(EPOCH_KEY, made, EPOCH_TTL_MS);
    const value = isMine ? made : await this.#accelerator.get(EPOCH_KEY);
    this.#epoch = value === undefined ? undefined : { value, readAtMs: nowMs };
    return value;
  }

  #startRaising(): void {
    this.#epoch = undefined;
    this.#isOvertaken = true;
    this.#raising ??= setInterval(() => void this.#tryToRaise(), RAISE_EVERY_MS).unref();
  }

  async #tryToRaise(): Promise<void> {
    if (this.#isTrying) return;
    this.#isTrying = true;
    try {
      if (!(await this.#raise())) return;
      clearInterval(this.#raising);
      this.#raising = undefined;
    } finally {
      this.#isTrying = false;
    }
  }

  /** @returns whether Redis may be believed again */
  async #raise(): Promise<boolean> {
    this.#isOvertaken = false;
    const run = await this.#accelerator.serverRun();
    if (!(await this.#accelerator.set(EPOCH_KEY, randomUUID(), EPOCH_TTL_MS))) return false;
    // A place that was in flight when its fence was missed may be remembered only now, in this epoch.
    for (const transactionId of this.#missed) {
      if (!(await this.#writeFence(transactionId))) return false;
      this.#missed.delete(transactionId);
    }
    if (run !== undefined) await this.#accelerator.set(RUN_KEY, run, EPOCH_TTL_MS);
    return !this.#isOvertaken;
  }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Somebody else's value, or a broken one: PostgreSQL is asked instead.
    return undefined;
  }
}

function keyOf(transactionId: string): string {
  return `place:${transactionId}`;
}
