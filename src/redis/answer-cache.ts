import { z } from 'zod';
import type { Accelerator } from './accelerator.ts';

/** A place's final answer and what it was given for: none of this can change any more. */
const finalPlace = z.strictObject({
  userId: z.string(),
  amount: z.string(),
  currency: z.string(),
  operatorId: z.string(),
  status: z.number(),
  body: z.string(),
});

export type FinalPlace = z.infer<typeof finalPlace>;

/**
 * Final answers of places, in front of the journal. A rollback removes the bet's entry before it is
 * answered, because from then on a copy of the place is refused.
 */
export class AnswerCache {
  readonly #accelerator: Accelerator;
  readonly #ttlMs: () => number;

  constructor(accelerator: Accelerator, ttlMs: () => number) {
    this.#accelerator = accelerator;
    this.#ttlMs = ttlMs;
  }

  /** @returns undefined too for an entry that cannot be read: the journal knows better */
  async find(transactionId: string): Promise<FinalPlace | undefined> {
    const text = await this.#accelerator.get(keyOf(transactionId));
    if (text === undefined || text === FENCED) return undefined;
    return read(text);
  }

  /** Never overwrites the fence of a rollback. */
  async remember(transactionId: string, place: FinalPlace): Promise<void> {
    await this.#accelerator.setIfAbsent(keyOf(transactionId), JSON.stringify(place), this.#ttlMs());
  }

  /** Sends copies of this place to the journal from now on. */
  async fence(transactionId: string): Promise<void> {
    await this.#accelerator.set(keyOf(transactionId), FENCED, this.#ttlMs());
  }
}

const FENCED = '-';

function read(text: string): FinalPlace | undefined {
  try {
    return finalPlace.safeParse(JSON.parse(text)).data;
  } catch {
    // Half a value, or another program's.
    return undefined;
  }
}

function keyOf(transactionId: string): string {
  return `place:${transactionId}`;
}
