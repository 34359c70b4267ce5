import { randomUUID } from 'node:crypto';
import type { Copy } from '../plan/plan.ts';
import type { Message } from './messages.ts';

/** The message as a copy of this kind sends it. */
export function copyOf(message: Message, kind: Copy['kind'], stake: string): Message {
  switch (kind) {
    case 'twin':
    case 'replay':
      return message;
    case 'swapped':
      return { ...message, method: 'PUT' };
    case 'conflict': {
      const body = message.body.replace(`"amount":${stake}`, `"amount":1${stake}`);
      return { ...message, body };
    }
    case 'respelled':
      return copyOf(
        { ...message, body: message.body.replace(/"amount":([0-9.]+)/, respelled) },
        'again',
        stake,
      );
    case 'again': {
      const requestId = randomUUID();
      return { ...message, requestId, body: message.body.replace(message.requestId, requestId) };
    }
  }
}

/** The same number with an extra zero, or with an exponent. */
function respelled(_: string, amount: string): string {
  return `"amount":${amount.includes('.') ? `${amount}0` : `${amount}.0e0`}`;
}
