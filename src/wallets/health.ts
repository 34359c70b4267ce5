import type { Health } from '../outbound/health.ts';
import type { WalletAnswer } from './wallet-exchange.ts';

/** Transport faults and broken answers speak against a wallet, its proper no never does. */
export function healthOf(answer: WalletAnswer): Health {
  if (answer.kind === 'unknown') return isProperRefusal(answer) ? 'healthy' : 'faulty';
  if (answer.kind !== 'notSent') return 'healthy';
  const isWallets = answer.reason === 'connection' && answer.trace.isOwnShortage !== true;
  return isWallets ? 'faulty' : 'neutral';
}

/** A refusal in proper form that only its code makes ambiguous: the wallet itself is well. */
export function isProperRefusal(answer: WalletAnswer): boolean {
  return answer.kind === 'unknown' && answer.trace.code !== undefined;
}
