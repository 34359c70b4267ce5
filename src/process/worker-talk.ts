import type { Worker } from 'node:cluster';
import { once } from 'node:events';
import type { Registry } from 'prom-client';
import type { InForce } from '../config/in-force.ts';
import type { Problem } from '../config/problems.ts';
import { freezeDeep } from '../lib/deep-readonly.ts';
import { within } from '../lib/within.ts';

/** A process's metrics on their way to the process that is scraped. */
export type Readings = Awaited<ReturnType<Registry['getMetricsAsJSON']>>;

/** A worker process starts with this even if a file is broken by now, or PostgreSQL is away. */
export interface FromParent {
  readonly inForce: InForce;
  readonly databaseId: string;
}

/** The parent's questions to a worker process, with the types of their answers. */
interface Answers {
  readonly metrics: Readings;
  /** Reloads the configuration; the answer lists its problems. */
  readonly reload: readonly Problem[];
}
type Question = keyof Answers;

/** All messages between the two. */
interface Message<Q extends Question> {
  readonly fromParent?: FromParent;
  readonly question?: Q;
  readonly answerTo?: Q;
  readonly answer?: Answers[Q];
  readonly cannotStart?: string;
}

/** @returns the answer; undefined if there is none after `limitMs`, or the process has ended */
export async function ask<Q extends Question>(
  worker: Worker,
  question: Q,
  limitMs: number,
): Promise<Answers[Q] | undefined> {
  const { promise, resolve } = Promise.withResolvers<Answers[Q] | undefined>();
  const onAnswer = (message: Message<Q>) => {
    if (message.answerTo === question) resolve(message.answer);
  };
  const end = () => resolve(undefined);
  worker.on('message', onAnswer).once('exit', end);
  say(worker, { question });
  const answer = await within(limitMs, promise).catch(() => undefined);
  worker.off('message', onAnswer).off('exit', end);
  return answer;
}

/** The pipe breaks a moment before the other end's exit is known. */
export function say(other: Pick<Worker, 'send'>, message: Message<Question>): void {
  other.send(message, () => undefined);
}

/** In a worker process: what its parent sends first. */
export async function fromParent(): Promise<FromParent> {
  const [message]: Message<Question>[] = await once(process, 'message');
  const known = message?.fromParent;
  if (known === undefined) throw new Error('the parent has sent something else first');
  return freezeDeep(known);
}

/** In a worker process: answers its parent's questions. */
export function answerParent(answers: { [Q in Question]: () => Promise<Answers[Q]> }): void {
  process.on('message', ({ question }: Message<Question>) => {
    if (question === undefined) return;
    void answers[question]().then((answer) =>
      process.send?.({ answerTo: question, answer }, undefined, undefined, () => undefined),
    );
  });
}

/** In a worker process: tells the parent, which prints it once, why this process cannot start. */
export async function reportFailedStart(cannotStart: string): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  process.send?.({ cannotStart }, undefined, undefined, () => resolve());
  await promise;
}
