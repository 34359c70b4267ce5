import { unreachable } from '../../domain/unreachable.ts';
import type { Health } from '../../outbound/health.ts';
import type { BonusApiAnswer } from './answer.ts';

/** Silence and broken answers speak against the service, its proper no never does. */
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
