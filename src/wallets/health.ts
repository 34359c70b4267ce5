import type { Health } from '../outbound/breaker.ts';
import type { WalletAnswer } from './wallet-exchange.ts';

/** Transport faults and malformed answers count against a wallet; a proper refusal never does. */
export function healthOf(answer: WalletAnswer): Health {
  if (answer.kind === 'unknown') return isProperRefusal(answer) ? 'healthy' : 'faulty';
  if (answer.kind !== 'notSent') return 'healthy';
  const isWallets = answer.reason === 'connection' && answer.trace.isOwnShortage !== true;
  return isWallets ? 'faulty' : 'neutral';
}

/** A well-formed refusal whose outcome is unknown only because of its code: the wallet itself is healthy. */
export function isProperRefusal(answer: WalletAnswer): boolean {
  return answer.kind === 'unknown' && answer.trace.code !== undefined;
}
