import { unreachable } from '../../domain/unreachable.ts';
import type { Health } from '../../outbound/breaker.ts';
import type { BonusApiAnswer } from './answer.ts';

/** Missing and malformed answers count against the service; a proper refusal never does. */
export function healthOfService(answer: BonusApiAnswer): Health {
  switch (answer.kind) {
    case 'answered':
    case 'refused':
    case 'unauthorized':
      return 'healthy';
    case 'failed':
      return answer.instead === undefined ? 'faulty' : 'healthy';
    case 'silent':
      return 'faulty';
    case 'notSent': {
      const isServices = answer.reason === 'connection' && answer.isOwnShortage !== true;
      return isServices ? 'faulty' : 'neutral';
    }
  }
  return unreachable(answer);
}
