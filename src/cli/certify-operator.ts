import { stringify } from 'yaml';
import type { CertifiedPlayer } from '../certify/caller.ts';
import type { OperatorConfig } from '../config/schema.ts';
import type { Dialect, WalletSettings } from '../wallets/wallet-config.ts';
import { loadValid, validOperator } from './configuration.ts';
import { UsageError } from './failures.ts';
import { plain } from './plain-text.ts';

export interface OperatorOptions {
  readonly operator: string;
  readonly wallet?: string;
  readonly user: string;
  readonly token: string;
  readonly currency?: string;
  readonly otherUser?: string;
  readonly otherToken?: string;
  readonly strict: boolean;
  readonly folder?: string;
}

/** What a certification needs of an operator and of the options. */
export interface OperatorToCertify {
  readonly operator: string;
  readonly currencies: readonly string[];
  readonly settings: WalletSettings;
  readonly player: CertifiedPlayer;
  readonly other: { readonly userId: string; readonly token: string } | undefined;
}

/**
 * @throws CommandFailed when the configuration is not valid
 * @throws UsageError when it has no such operator, or an option makes no sense
 */
export async function operatorToCertify(
  env: NodeJS.ProcessEnv,
  options: OperatorOptions,
): Promise<OperatorToCertify> {
  const config = await operatorConfig(env, options);
  const { wallet, user, token, strict } = options;
  const currency = options.currency ?? config.currencies[0] ?? '';
  return {
    operator: config.id,
    currencies: config.currencies,
    settings: {
      ...config.wallet,
      // An address given by hand is meant, be it private: sandboxes often are.
      ...(wallet === undefined ? {} : { baseUrl: addressOf(wallet), allowPrivate: true }),
      dialect: dialectOf(config.wallet.dialect, await defaults(), strict),
    },
    player: { userId: user, token, currency },
    other: otherPlayer(options),
  };
}

async function operatorConfig(
  env: NodeJS.ProcessEnv,
  { operator, folder }: OperatorOptions,
): Promise<OperatorConfig> {
  const loaded = await loadValid(env, folder);
  const config = validOperator(loaded, operator);
  if (config !== undefined) return config;
  const known = [...(loaded.configuration?.operators.keys() ?? [])].join(', ') || 'none';
  throw new UsageError(`no operator ${plain(operator)} in ${loaded.folder}: there is ${known}`);
}

function addressOf(wallet: string): string {
  const url = URL.canParse(wallet) ? new URL(wallet) : undefined;
  if (url?.protocol === 'https:' || url?.protocol === 'http:') return wallet;
  throw new UsageError('--wallet is no address: give one such as https://sandbox.alpha.example');
}

function otherPlayer({ otherUser, otherToken }: OperatorOptions): OperatorToCertify['other'] {
  if (otherUser === undefined && otherToken === undefined) return undefined;
  if (otherUser !== undefined && otherToken !== undefined) {
    return { userId: otherUser, token: otherToken };
  }
  throw new UsageError('give both --other-user and --other-token, or neither');
}

async function defaults(): Promise<Dialect> {
  const { dialectSchema } = await import('../config/schema.ts');
  return dialectSchema.parse({});
}

/**
 * The items that the operator's file sets. Under `--strict` only where calls go and what they carry
 * to be let in: without those nothing would be seen of the wallet.
 */
function dialectOf(dialect: Dialect, usual: Dialect, strict: boolean): Dialect {
  const { paths, headers } = dialect;
  const known: Dialect = strict ? { paths, headers } : dialect;
  const entries = Object.entries(known);
  const plainDefaults = new Map(Object.entries(usual));
  const isSet = ([name, value]: [string, unknown]) =>
    value !== undefined && stringify(value) !== stringify(plainDefaults.get(name));
  return Object.fromEntries(entries.filter(isSet));
}
