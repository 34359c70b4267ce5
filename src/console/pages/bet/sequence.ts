import { spanText } from '../../parts/times.ts';
import { type Tone, wordsOf } from '../../parts/tone.ts';
import type { ShownBet, ShownOperation } from './bet.ts';
import { inOrder } from './order.ts';
import { attemptTone, endOf } from './story.ts';

/** From left to right. */
export const PARTIES = ['service', 'gateway', 'wallet'] as const;
export type Party = (typeof PARTIES)[number];

/** A message from one party to another. */
export interface Message {
  /** Unique within this bet, for the page's address: `2.1.answer`. */
  readonly key: string;
  readonly at: string;
  readonly from: Party;
  readonly to: Party;
  readonly label: string;
  readonly tone: Tone;
  /** Its text as it was sent, if it was kept. */
  readonly body: string | null;
  /** Whether more was sent than was kept. */
  readonly truncated: boolean;
  readonly about: string;
  /** The operation with which it could be sent again, if it is a request. */
  readonly operation: string | undefined;
  /** The `userId` in the kept text and the one that was really sent, if they differ and both are known. */
  readonly player?: { readonly kept: string; readonly sent: string } | undefined;
}

/** A message, and the time since the one before it if that is long enough to show. */
export interface SequenceStep {
  readonly message: Message;
  readonly waitedMs: number | undefined;
}

/** Shorter waits are not shown. */
const WAIT_SHOWN_MS = 1_000;

/** All messages of a bet, in the order in which they were sent. */
export function sequenceOf(bet: ShownBet): readonly SequenceStep[] {
  const order = inOrder(bet, (operation, number) => messagesOf(bet, operation, number));
  return order.map(({ event: message, ms }, at) => {
    const before = order[at - 1];
    const waited = before === undefined ? 0 : ms - before.ms;
    return { message, waitedMs: waited >= WAIT_SHOWN_MS ? waited : undefined };
  });
}

function messagesOf(bet: ShownBet, operation: ShownOperation, number: number): readonly Message[] {
  const { askedBy, attempts, answer, receivedAt, requestId, request } = operation;
  const name = operation.operation;
  const whole = { truncated: false };
  const received: Message = {
    ...whole,
    key: `${number}`,
    at: receivedAt,
    from: 'service',
    to: 'gateway',
    label: name,
    tone: 'info',
    body: request,
    about: `What the service sent, its token left out. Request id ${requestId ?? 'none'}.`,
    operation: name,
  };
  const first = attempts[0];
  const answered: Message[] =
    answer === null
      ? []
      : [
          {
            ...whole,
            key: `${number}.answer`,
            at: first === undefined ? receivedAt : endOf(first),
            from: 'gateway',
            to: 'service',
            label: `${answer.status}`,
            tone: answer.status === 200 ? 'good' : 'warn',
            body: answer.body,
            about: `What the service was answered, with status ${answer.status}.`,
            operation: undefined,
          },
        ];
  const [firstTries, laterTries] = [attempts.slice(0, 1), attempts.slice(1)].map((some) =>
    some.flatMap((attempt) => triesOf(bet, operation, number, attempt)),
  );
  return [
    ...(askedBy === 'gateway' ? [] : [received]),
    ...(firstTries ?? []),
    ...answered,
    ...(laterTries ?? []),
  ];
}

function triesOf(
  { userId, operatorUser }: ShownBet,
  { operation, askedBy, request, attempts }: ShownOperation,
  number: number,
  attempt: ShownOperation['attempts'][number],
): readonly Message[] {
  const { startedAt, latencyMs, result, status, error, answer } = attempt;
  const tone = attemptTone(attempt);
  const nth = attempts.length === 1 ? '' : ` (attempt ${attempt.number})`;
  return [
    {
      key: `${number}.${attempt.number}`,
      at: startedAt,
      from: 'gateway',
      to: 'wallet',
      label: `${operation}${nth}`,
      tone: 'info',
      body: request,
      truncated: false,
      about: `What the ${askedBy === 'gateway' ? 'gateway made by itself' : 'service had sent'}; to the wallet it goes with the operator's own player id and token.`,
      operation,
      player:
        userId === null || operatorUser === null ? undefined : { kept: userId, sent: operatorUser },
    },
    {
      key: `${number}.${attempt.number}.answer`,
      at: endOf(attempt),
      from: 'wallet',
      to: 'gateway',
      label: error ?? `${status ?? wordsOf(result)} after ${spanText(latencyMs)}`,
      tone,
      body: answer?.body ?? null,
      truncated: answer?.truncated ?? false,
      about: `${wordsOf(result)} after ${spanText(latencyMs)}${status === null ? '' : `, status ${status}`}${error === null ? '' : `: ${error}`}`,
      operation: undefined,
    },
  ];
}
