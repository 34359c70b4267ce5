import type { BetOperation } from '../../../src/domain/operation.ts';
import { nativeAdapter } from '../../../src/wallets/adapters/native.ts';
import type { Dialect } from '../../../src/wallets/wallet-config.ts';
import { betCall, manualClock, walletSettings } from './calls.ts';

/** The adapter for a wallet with this dialect. */
export function adapter(dialect: Dialect) {
  const settings = walletSettings({ baseUrl: 'https://wallet.example/api', dialect });
  return nativeAdapter(settings, manualClock());
}

/** How its answer to a call about the bet `t1` is judged. */
export function verdict(dialect: Dialect, operation: BetOperation, status: number, body: unknown) {
  const bytes = typeof body === 'string' ? body : JSON.stringify(body);
  const call = betCall({ operation, transactionId: 't1' });
  return adapter(dialect).betVerdict(call, { status, body: Buffer.from(bytes) });
}
