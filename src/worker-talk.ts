import type { Worker } from 'node:cluster';
import type { InForce } from './config/in-force.ts';
import type { Problem } from './config/problems.ts';
import { OutOfTime, within } from './lib/within.ts';
import type { Snapshot } from './telemetry/snapshot.ts';

/** A worker process says it all the time. */
export const ALIVE = 'alive';

/** A worker process asks its parent what is in force, and on which database. */
export const ASK_PARENT = 'inForce';

export interface KnownAtParent {
  readonly inForce: InForce;
  readonly databaseId: string;
}

/** What a parent asks a worker process, and what it gets. */
interface Answers {
  readonly metrics: Snapshot;
  /** Reads the configuration anew; what is wrong with it, once what is right is in force. */
  readonly reload: readonly Problem[];
}
type Question = keyof Answers;

interface Asked {
  readonly asked: Question;
  /** Its answer bears the same. */
  readonly number: number;
}

interface Answered<Q extends Question> {
  readonly answered: number;
  readonly answer: Answers[Q];
}

let asked = 0;

/** @returns the answer; `late` where there is none after `limitMs`, `ended` where the process has gone */
export async function ask<Q extends Question>(
  worker: Worker,
  question: Q,
  limitMs: number,
): Promise<Answers[Q] | 'late' | 'ended'> {
  asked += 1;
  const number = asked;
  const { promise, resolve } = Promise.withResolvers<Answers[Q] | 'ended'>();
  const hear = (message: unknown) => {
    if (isAnswerTo<Q>(message, number)) resolve(message.answer);
  };
  const end = () => resolve('ended');
  worker.on('message', hear);
  worker.once('exit', end);
  const asking: Asked = { asked: question, number };
  // The pipe breaks a moment before the exit is known.
  worker.send(asking, () => undefined);
  try {
    return await within(limitMs, promise);
  } catch (error) {
    if (error instanceof OutOfTime) return 'late';
    throw error;
  } finally {
    worker.off('message', hear);
    worker.off('exit', end);
  }
}

/** In a worker process: answers whatever its parent asks. */
export function answerParent(
  answers: { readonly [Q in Question]: () => Promise<Answers[Q]> },
): void {
  process.on('message', (message: unknown) => {
    if (!isAsked(message)) return;
    void answers[message.asked]().then((answer) =>
      process.send?.({ answered: message.number, answer }),
    );
  });
}

export function isDescriptorsMessage(message: unknown): message is { hasDescriptors: boolean } {
  return isObject(message) && 'hasDescriptors' in message;
}

export function isCannotStartMessage(message: unknown): message is { cannotStart: string } {
  return isObject(message) && 'cannotStart' in message;
}

export function isKnownMessage(message: unknown): message is KnownAtParent {
  return isObject(message) && 'inForce' in message;
}

function isAsked(message: unknown): message is Asked {
  return isObject(message) && 'asked' in message;
}

function isAnswerTo<Q extends Question>(message: unknown, number: number): message is Answered<Q> {
  return isObject(message) && 'answered' in message && message.answered === number;
}

function isObject(message: unknown): message is object {
  return typeof message === 'object' && message !== null;
}
