import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import type { Clock } from '../domain/clock.ts';
import { jsonIn } from '../lib/json-in.ts';
import type { Accelerator } from './accelerator.ts';

/** A place's final answer, and the facts of the place that it answers: none of this can change any more. */
const finalPlace = z.object({
  userId: z.string(),
  amount: z.string(),
  currency: z.string(),
  operatorId: z.string(),
  status: z.number(),
  body: z.string(),
});

export type FinalPlace = z.infer<typeof finalPlace>;

/** An entry is valid only in the epoch in which it was written, and for the database that holds the place. */
const entry = finalPlace.extend({ epoch: z.string(), databaseId: z.string() });

const EPOCH_KEY = 'answers-epoch';
/** Holds the `run_id` of the start of Redis in which no fence is missing. */
const RUN_KEY = 'answers-run';
/** Longer than any entry lives. */
const EPOCH_TTL_MS = 90 * 86_400_000;
/** A writer may use an epoch that it read this long ago: an entry of a past epoch is only a miss. */
const EPOCH_AGE_MS_MAX = 5_000;
/** The most missed fences that are written once Redis returns, for places that were in flight meanwhile. */
const MISSED_MAX = 10_000;
/** After a missed fence, how often raising the epoch is tried until Redis confirms it. */
const RAISE_EVERY_MS = 250;

/** Answers to places within this time are written together. */
const GATHER_MS = 10;

const FENCED = '-';

/**
 * Final answers to places, for times when the journal cannot be asked. A rollback fences the entry. Where a
 * fence may be lost, the epoch is raised first, so that no entry outlives its fence. All databases share the keys.
 */
export class AnswerCache {
  readonly #accelerator: Accelerator;
  readonly #databaseId: string;
  readonly #clock: Clock;
  readonly #ttlMs: () => number;
  #epoch: { readonly value: string; readonly readAtMs: number } | undefined;
  /** Set when a fence could not be written, or may be lost: no entry is trusted until the epoch has been raised. */
  #raising: NodeJS.Timeout | undefined;
  /** Thousands of fences take longer than the interval between two tries. */
  #isTrying = false;
  /** A fence was missed, or Redis returned, since the current try began: only an epoch raised later covers that. */
  #isOvertaken = false;
  readonly #missed = new Set<string>();
  #gathered: (readonly [key: string, place: FinalPlace])[] = [];
  /** The pending write, until it has taken the gathered entries. */
  #writing: Promise<void> | undefined;

  /** @param databaseId entries of another database are a miss: gateways on several may share a Redis */
  constructor(accelerator: Accelerator, databaseId: string, clock: Clock, ttlMs: () => number) {
    this.#accelerator = accelerator;
    this.#databaseId = databaseId;
    this.#clock = clock;
    this.#ttlMs = ttlMs;
    // A Redis that was restored from an older copy may have lost fences that it had confirmed.
    accelerator.onReturn(() => this.#startRaising());
  }

  /** Call it before a process answers anything: a Redis that restarted from its disk may have lost fences. */
  async begin(): Promise<void> {
    const run = await this.#accelerator.serverRun();
    if (run !== undefined && (await this.#accelerator.get(RUN_KEY)) === run) return;
    this.#startRaising();
    await this.#tryToRaise();
  }

  /**
   * Trusts only a server that accepts a write to this very key: one that does not has refused the fence as well.
   * @returns undefined also for an entry that cannot be read or is from another epoch
   */
  async find(transactionId: string): Promise<FinalPlace | undefined> {
    if (this.#raising !== undefined) return undefined;
    const [text, epoch] = await Promise.all([
      this.#accelerator.getWhereTaken(keyOf(transactionId)),
      this.#accelerator.get(EPOCH_KEY),
    ]);
    if (text === undefined || text === FENCED || epoch === undefined) return undefined;
    const read = entry.safeParse(jsonIn(text));
    if (!read.success || read.data.databaseId !== this.#databaseId) return undefined;
    if (read.data.epoch !== epoch || this.#raising !== undefined) return undefined;
    const { epoch: _, databaseId: __, ...place } = read.data;
    return place;
  }

  /** Never overwrites a rollback's fence. Gathers answers for `GATHER_MS`: a command each cost more than signing. */
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

  /** From now on no copy of this place is answered from the cache. Call it before the rollback commits. */
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

  /** @returns whether Redis may be trusted again */
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

function keyOf(transactionId: string): string {
  return `place:${transactionId}`;
}
