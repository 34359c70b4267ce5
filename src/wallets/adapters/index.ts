import type { Clock } from '../../domain/clock.ts';
import type { WalletSettings } from '../wallet-config.ts';
import type { AdapterFactory, WalletAdapter } from './adapter.ts';
import { nativeAdapter } from './native.ts';

/** All adapters, by the name used in `wallet.adapter`. */
const ADAPTERS: Readonly<Record<string, AdapterFactory>> = {
  native: nativeAdapter,
};

export const ADAPTER_NAMES: readonly string[] = Object.keys(ADAPTERS);

/** @throws Error for a name that is not in the list; the configuration checks it before */
export function createAdapter(settings: WalletSettings, clock: Clock): WalletAdapter {
  const factory = Object.hasOwn(ADAPTERS, settings.adapter)
    ? ADAPTERS[settings.adapter]
    : undefined;
  if (factory === undefined) throw new Error(`there is no wallet adapter "${settings.adapter}"`);
  return factory(settings, clock);
}
