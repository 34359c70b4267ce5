import { onTestFinished } from 'vitest';
import type { Certificate, Verdict } from '../../../src/certify/certificate/certificate.ts';
import type { CertificationOptions, Certified } from '../../../src/certify/certification.ts';
import { certify } from '../../../src/certify/run.ts';
import { systemClock } from '../../../src/domain/clock.ts';
import type { Dialect } from '../../../src/wallets/wallet-config.ts';
import type { PlayerSeed } from '../../../tools/simulator/wallet/players.ts';
import {
  type SimulatedWallet,
  startWallet,
  type WalletOptions,
} from '../../../tools/simulator/wallet/wallet.ts';
import { walletSettings } from '../../wallets/support/calls.ts';

export const SECRET = 'the-wallets-secret';
export const PLAYER = { userId: 'ann', token: 'ann-usd-token', currency: 'USD' };

const ANN: PlayerSeed = {
  user: PLAYER.userId,
  isTest: true,
  balances: { USD: '1000', EUR: '50' },
  tokens: { [PLAYER.token]: 'USD' },
};

/** A wallet with one test player; it is closed after the test. */
export async function sandbox(
  options: Partial<WalletOptions> = {},
  ann: Partial<PlayerSeed> = {},
): Promise<SimulatedWallet> {
  const players = [{ ...ANN, ...ann }];
  const wallet = await startWallet({ name: 'alpha', secret: SECRET, players, ...options });
  onTestFinished(() => wallet.close());
  return wallet;
}

/** Adds a second player with money of its own. */
export function second(
  wallet: SimulatedWallet,
  more: Partial<PlayerSeed> = {},
): {
  readonly userId: string;
  readonly token: string;
} {
  const token = 'bob-usd-token';
  wallet.addPlayer({
    user: 'bob',
    balances: { USD: '500' },
    tokens: { [token]: 'USD' },
    isTest: true,
    ...more,
  });
  return { userId: 'bob', token };
}

export type Wishes = Partial<CertificationOptions> & { readonly dialect?: Dialect };

/** Certifies a wallet as the command line would. */
export async function certification(
  wallet: SimulatedWallet,
  wishes: Wishes = {},
): Promise<Certificate> {
  return (await certified(wallet, wishes)).certificate;
}

/** The same, with all calls of the run. */
export function certified(wallet: SimulatedWallet, wishes: Wishes = {}): Promise<Certified> {
  const { dialect = {}, ...options } = wishes;
  const { baseUrl } = wallet;
  return certify({
    operator: 'alpha',
    currencies: ['USD', 'EUR'],
    settings: walletSettings({ baseUrl, secrets: [SECRET], dialect }),
    strict: false,
    player: PLAYER,
    other: undefined,
    only: [],
    iKnow: false,
    version: '0.0.0-test',
    clock: systemClock,
    signal: new AbortController().signal,
    // A test's machine is slower than any wallet may be.
    limits: { warnMs: 60_000, failMs: 60_000, callMs: 20_000, lateMs: 0 },
    ...options,
  });
}

/** The ids of the cases with this verdict, in alphabetical order. */
export function ids(certificate: Certificate, verdict: Verdict): readonly string[] {
  return certificate.cases
    .filter((one) => one.verdict === verdict)
    .map(({ id }) => id)
    .sort();
}

/** The dialect items of the suggestions, as the operator's file would contain them. */
export function suggested(certificate: Certificate): readonly string[] {
  return certificate.suggestions.map(({ yaml }) => yaml.replaceAll(/\s+/g, ' ')).sort();
}
