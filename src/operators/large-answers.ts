import { finished } from 'node:stream';
import type { FastifyReply } from 'fastify';
import type { OperatorConfig } from '../config/schema/schema.ts';
import { KeyedSemaphore } from '../lib/keyed-semaphore.ts';

/** The most answers per operator being built or not yet received: one may have some megabytes. */
const AT_ONCE = 8;

/** A caller that does not receive its answer within this is disconnected, to free the memory. */
const TAKEN_MS_MAX = 30_000;

/** Operators' large answers, a few of each operator at a time: further ones wait (I7). */
export class LargeAnswers {
  readonly #semaphore = new KeyedSemaphore(AT_ONCE);

  /** Sends in its turn, until the caller has received it. `send` is not called if the caller has left. */
  async send(
    { id }: OperatorConfig,
    reply: FastifyReply,
    send: () => Promise<void>,
  ): Promise<void> {
    const done = await this.#semaphore.take(id);
    finished(reply.raw, done);
    if (reply.raw.destroyed) return;
    await send();
    const limit = setTimeout(() => reply.raw.destroy(), TAKEN_MS_MAX).unref();
    finished(reply.raw, () => clearTimeout(limit));
  }

  /** Reads what an answer is made of in a turn, which ends with that: a stream takes as long as its reader. */
  async read<T>({ id }: OperatorConfig, read: () => Promise<T>): Promise<T> {
    const done = await this.#semaphore.take(id);
    try {
      return await read();
    } finally {
      done();
    }
  }
}
