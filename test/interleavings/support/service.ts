import { randomUUID } from 'node:crypto';
import { Deadline } from '../../../src/domain/deadline.ts';
import { GatewayError } from '../../../src/domain/errors.ts';
import { unreachable } from '../../../src/domain/unreachable.ts';
import { BetCallback } from '../../../src/operations/bet-callback.ts';
import type { Callbacks } from '../../../src/operations/callbacks.ts';
import { placeBet } from '../../../src/operations/place.ts';
import { rollback } from '../../../src/operations/rollback.ts';
import { storedMessage } from '../../../src/operations/routes.ts';
import { settle } from '../../../src/operations/settle.ts';
import { unsettle } from '../../../src/operations/unsettle.ts';
import { update } from '../../../src/operations/update.ts';
import { type Answer, failure } from '../../../src/protocol/answers.ts';
import {
  type BetSlip,
  placeBody,
  rollbackBody,
  settleBody,
  unsettleBody,
  updateBody,
} from '../../../src/protocol/callback-bodies.ts';
import { parseBet } from '../../../src/protocol/messages.ts';

/** What the service can send about the bet; a number is the settled amount, or the new odds. */
const BASES = [
  ...(['place', 'settle 20', 'settle 50', 'unsettle', 'rollback', 'update 2', 'update 3'] as const),
  // The same content under a new `requestId`.
  'settle 20 again',
] as const;
type Base = (typeof BASES)[number];

/** A copy has exactly the same bytes. */
export type Act = Base | `copy of ${Base}`;

type Kind = 'place' | 'settle' | 'unsettle' | 'rollback' | 'update';

export interface Message {
  readonly kind: Kind;
  /** The same for copies of the same bytes. */
  readonly id: Base;
  readonly method: 'POST' | 'PUT';
  readonly body: Buffer;
  /** The settled amount, or the new odds. */
  readonly value: string | undefined;
}

/** One send and its answer; moments are counted, not measured. */
export interface Sent {
  readonly message: Message;
  readonly from: number;
  /** Infinite until something has come, and if the gateway's process was killed. */
  to: number;
  answer: Answer | undefined;
}

/** All messages that the service can send about one bet. */
export class Messages {
  readonly #known = new Map<Base, Message>();
  readonly #slip: BetSlip;

  constructor(slip: BetSlip) {
    this.#slip = slip;
  }

  of(act: Act): Message {
    const base = BASES.find((one) => act === one || act === `copy of ${one}`);
    if (base === undefined) throw new Error(`nobody does ${act}`);
    const known = this.#known.get(base) ?? this.#make(base);
    this.#known.set(base, known);
    return known;
  }

  #make(name: Base): Message {
    const [kind, value] = name.split(' ');
    const put = (as: Kind, body: string): Message => ({
      ...{ kind: as, id: name, method: 'PUT', value },
      body: Buffer.from(body),
    });
    switch (kind) {
      case 'place': {
        const body = Buffer.from(placeBody(this.#slip));
        return { kind, id: name, method: 'POST', body, value };
      }
      case 'settle': {
        const result = { amount: value ?? '', resultType: 'won', token: undefined } as const;
        return put(kind, settleBody(this.#slip, result));
      }
      case 'unsettle':
        return put(kind, unsettleBody(this.#slip, '20'));
      case 'rollback':
        return put(kind, rollbackBody(this.#slip, 50));
      case 'update':
        return put(kind, updateBody(this.#slip, value ?? ''));
      default:
        throw new Error(`nobody does ${name}`);
    }
  }
}

export function slipOf(player: { readonly userId: string; readonly token: string }): BetSlip {
  return {
    ...{ transactionId: randomUUID(), token: player.token, userId: player.userId },
    ...{ currency: 'USD', amount: '10', coefficient: '1', bonusId: null, bonusTemplateId: null },
  };
}

/** Serves a callback as the route does, within the time limit. */
export async function carry(callbacks: Callbacks, { method, body }: Message): Promise<Answer> {
  const parsed = parseBet(method, body);
  if (!parsed.ok) throw new Error(`the test sends what is no message: ${parsed.why}`);
  const { message } = parsed;
  const { clock, sessions } = callbacks;
  const deadline = new Deadline(clock, clock.monotonicMs(), 30_000, 300);
  const stored = storedMessage(sessions, message, body);
  try {
    switch (message.operation) {
      case 'place':
        return (await placeBet({ callbacks, message, stored, deadline })).answer;
      case 'settle':
        return await answerOf(settle(new BetCallback(callbacks, message, stored, deadline)));
      case 'unsettle':
        return await answerOf(unsettle(new BetCallback(callbacks, message, stored, deadline)));
      case 'rollback':
        return await answerOf(rollback(new BetCallback(callbacks, message, stored, deadline)));
      case 'update':
        return await answerOf(update(new BetCallback(callbacks, message, stored, deadline)));
      default:
        return unreachable(message);
    }
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    return method === 'POST' ? failure(100, 'System error') : failure(100, 'Unavailable', 503);
  }
}

async function answerOf(handled: Promise<{ readonly answer: Answer }>): Promise<Answer> {
  return (await handled).answer;
}
