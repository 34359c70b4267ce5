import type { Flaw } from '../../../tools/simulator/wallet/flaw.ts';
import type { Verdict } from '../../../tools/simulator/wallet/ledger.ts';
import type { WalletOptions } from '../../../tools/simulator/wallet/wallet.ts';

export type Mistake = Pick<WalletOptions, 'flaw' | 'judge' | 'rewrite' | 'rewriteRefused'>;

export const accepted = (): Verdict => ({
  kind: 'accepted',
  transactionTime: new Date().toISOString(),
  effect: 'applied',
});

export const declined = (code: number): Verdict => ({ kind: 'declined', code, message: 'Refused' });

export const flawed = (flaw: Flaw): Mistake => ({ flaw });
