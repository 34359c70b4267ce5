import { randomUUID } from 'node:crypto';
import type { Copy } from '../plan/plan.ts';
import type { Message } from './messages.ts';

/** The message as a copy of this kind sends it. */
export function copyOf(message: Message, kind: Copy['kind'], stake: string): Message {
  switch (kind) {
    case 'twin':
    case 'replay':
      return message;
    case 'conflict': {
      const body = message.body.replace(`"amount":${stake}`, `"amount":1${stake}`);
      return { ...message, body };
    }
    case 'again': {
      const requestId = randomUUID();
      return { ...message, requestId, body: message.body.replace(message.requestId, requestId) };
    }
  }
}
