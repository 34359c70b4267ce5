import { pino } from 'pino';
import { systemClock } from '../../../src/domain/clock.ts';
import { createMetrics, type Metrics } from '../../../src/telemetry/metrics.ts';
import type { Wallet } from '../../../src/wallets/call.ts';
import type { WalletOperator, WalletSettings } from '../../../src/wallets/wallet-config.ts';
import { createWallets, type Wallets } from '../../../src/wallets/wallets.ts';
import { walletConfig } from './calls.ts';
import { type RawRequest, type RawWallet, startRawWallet } from './raw-wallet.ts';

export const FRAGILE = { errorPercent: 50, minRequests: 4, windowMs: 5000, openMs: 200 };

export const opened: { close(): Promise<void> }[] = [];

/** For `afterEach`. */
export async function closeOpened(): Promise<void> {
  for (const one of opened.splice(0)) await one.close();
}

interface Stage {
  readonly wallet: Wallet;
  readonly wallets: Wallets;
  readonly server: RawWallet;
  readonly metrics: Metrics;
  /** Warnings and errors in the log. */
  readonly logged: readonly object[];
}

/** One operator in front of a raw wallet. */
export async function stage(
  onRequest: (request: RawRequest, index: number) => void,
  settings: Partial<WalletSettings> = {},
  status: WalletOperator['status'] = 'active',
): Promise<Stage> {
  const server = await startRawWallet(onRequest);
  const metrics = createMetrics();
  const logged: object[] = [];
  const logger = pino(
    { level: 'warn', base: null, timestamp: false },
    { write: (line) => logged.push(JSON.parse(line)) },
  );
  const wallets = createWallets({ metrics, logger, clock: systemClock });
  wallets.apply([
    walletConfig('alpha', { baseUrl: `${server.origin}/sportsbook`, ...settings }, status),
  ]);
  opened.push(wallets, server);
  return { wallet: walletOf(wallets, 'alpha'), wallets, server, metrics, logged };
}

export function walletOf(wallets: Wallets, operatorId: string): Wallet {
  const wallet = wallets.get(operatorId);
  if (wallet === undefined) throw new Error(`no wallet of ${operatorId}`);
  return wallet;
}

export async function metricValue(
  metric: { get(): Promise<{ values: { value: number; labels: object }[] }> },
  labels: object,
): Promise<number | undefined> {
  const { values } = await metric.get();
  return values.find((one) => JSON.stringify(one.labels) === JSON.stringify(labels))?.value;
}

export async function repeat(times: number, call: () => Promise<unknown>): Promise<void> {
  for (let n = 0; n < times; n += 1) await call();
}
