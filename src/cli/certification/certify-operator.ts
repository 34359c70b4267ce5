import { stringify } from 'yaml';
import type { CertifiedPlayer } from '../../certify/calls/caller.ts';
import type { OperatorConfig } from '../../config/schema/schema.ts';
import { plain } from '../../lib/plain-text.ts';
import type { Dialect, WalletSettings } from '../../wallets/wallet-config.ts';
import { configFolder, loadValid, validOperator } from '../configuration.ts';
import { UsageError } from '../failures.ts';
import { typedCurrency } from '../query-options.ts';
import { dialectIn } from './given-dialect.ts';
import { secretText } from './token.ts';

export interface OperatorOptions {
  readonly operator?: string;
  readonly wallet?: string;
  readonly secretEnv?: string;
  readonly secretFile?: string;
  readonly dialect?: string;
  readonly user: string;
  readonly token?: string;
  readonly tokenEnv?: string;
  readonly tokenFile?: string;
  readonly endedToken?: string;
  readonly currency?: string;
  readonly otherUser?: string;
  readonly otherToken?: string;
  readonly otherTokenEnv?: string;
  readonly otherTokenFile?: string;
  readonly strict: boolean;
  readonly folder?: string;
}

/** What a certification needs from an operator and from the options. */
export interface OperatorToCertify {
  readonly operator: string;
  readonly currencies: readonly string[];
  readonly settings: WalletSettings;
  readonly player: CertifiedPlayer;
  readonly other: { readonly userId: string; readonly token: string } | undefined;
}

/**
 * From the operator's file, or from the options alone, without the gateway's configuration.
 * @throws CommandFailed for an invalid configuration; UsageError for an unknown operator or senseless options
 */
export async function operatorToCertify(
  env: NodeJS.ProcessEnv,
  options: OperatorOptions,
): Promise<OperatorToCertify> {
  const { user, strict } = options;
  const token = secretText(
    { option: '--token', value: options.token, env: options.tokenEnv, file: options.tokenFile },
    env,
  );
  if (token === undefined) {
    throw new UsageError('give the player’s token: --token, --token-env or --token-file');
  }
  const other = otherPlayer(options, env, { userId: user, token });
  const { operator, currencies, settings } =
    options.operator === undefined
      ? await fromOptions(options, env)
      : await fromConfiguration(options, options.operator, env);
  const currency =
    options.currency === undefined
      ? currencies[0]
      : // As it stands if it is one of the operator's own, even one such as `usd`.
        (currencies.find((own) => own === options.currency) ?? typedCurrency(options.currency));
  if (currency === undefined) {
    throw new UsageError('give the token’s currency: --currency, such as EUR');
  }
  return {
    operator,
    currencies,
    settings: { ...settings, dialect: dialectOf(settings.dialect, await defaults(), strict) },
    player: {
      userId: user,
      token,
      currency,
      endedToken: options.endedToken,
    },
    other,
  };
}

type Known = Pick<OperatorToCertify, 'operator' | 'currencies' | 'settings'>;

async function fromConfiguration(
  options: OperatorOptions,
  operator: string,
  env: NodeJS.ProcessEnv,
): Promise<Known> {
  const config = await operatorConfig(env, operator, options.folder);
  const { wallet } = options;
  const secret = givenSecret(options, env);
  const dialect = await givenDialect(options, env);
  return {
    operator: config.id,
    currencies: config.currencies,
    settings: {
      ...config.wallet,
      // An address given by hand is intended, even a private one: sandboxes often are private.
      ...(wallet === undefined ? {} : { baseUrl: addressOf(wallet), allowPrivate: true }),
      ...(secret === undefined ? {} : { secrets: [secret] }),
      ...(dialect === undefined ? {} : { dialect }),
    },
  };
}

async function fromOptions(options: OperatorOptions, env: NodeJS.ProcessEnv): Promise<Known> {
  const { wallet, currency } = options;
  const secret = givenSecret(options, env);
  if (wallet === undefined || secret === undefined) {
    throw new UsageError(
      'name the wallet: --operator of the configuration, or --wallet with --secret-file or ' +
        '--secret-env',
    );
  }
  const baseUrl = addressOf(wallet);
  return {
    operator: new URL(baseUrl).host,
    currencies: currency === undefined ? [] : [typedCurrency(currency)],
    settings: {
      ...PLAIN_SETTINGS,
      baseUrl,
      secrets: [secret],
      dialect: (await givenDialect(options, env)) ?? {},
    },
  };
}

/** The settings of a wallet without a file; a certification does not use breaker and bulkhead. */
const PLAIN_SETTINGS = {
  adapter: 'native',
  allowPrivate: true,
  timeoutMs: 4000,
  maxConcurrent: { read: 64, money: 256 },
  breaker: { errorPercent: 50, minRequests: 20, windowMs: 10_000, openMs: 5000 },
} as const;

function givenSecret(options: OperatorOptions, env: NodeJS.ProcessEnv): string | undefined {
  const { secretEnv, secretFile } = options;
  // There is no --secret: other users of the machine would see it.
  return secretText(
    { option: '--secret', value: undefined, env: secretEnv, file: secretFile },
    env,
  );
}

async function givenDialect(
  { dialect, folder }: OperatorOptions,
  env: NodeJS.ProcessEnv,
): Promise<Dialect | undefined> {
  return dialect === undefined
    ? undefined
    : await dialectIn(dialect, configFolder(env, folder), env);
}

async function operatorConfig(
  env: NodeJS.ProcessEnv,
  operator: string,
  folder: string | undefined,
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
  throw new UsageError(
    '--wallet is not an address: give one such as https://sandbox.alpha.example',
  );
}

/** @throws UsageError if a second player is named only by half, or is the first one */
function otherPlayer(
  options: OperatorOptions,
  env: NodeJS.ProcessEnv,
  player: { readonly userId: string; readonly token: string },
): OperatorToCertify['other'] {
  const { otherUser: userId, otherToken, otherTokenEnv, otherTokenFile } = options;
  const token = secretText(
    { option: '--other-token', value: otherToken, env: otherTokenEnv, file: otherTokenFile },
    env,
  );
  if (userId === undefined && token === undefined) return undefined;
  if (userId === undefined || token === undefined) {
    throw new UsageError('give both --other-user and --other-token, or neither');
  }
  if (userId === player.userId || token === player.token) {
    throw new UsageError('--other-user and --other-token must be of another player than --user');
  }
  return { userId, token };
}

async function defaults(): Promise<Dialect> {
  const { dialectSchema } = await import('../../config/schema/schema.ts');
  return dialectSchema.parse({});
}

/** The items of the operator's file; under `--strict` only the paths and headers that give access. */
function dialectOf(dialect: Dialect, usual: Dialect, strict: boolean): Dialect {
  const { paths, headers } = dialect;
  const known: Dialect = strict ? { paths, headers } : dialect;
  const entries = Object.entries(known);
  const plainDefaults = new Map(Object.entries(usual));
  const isSet = ([name, value]: [string, unknown]) =>
    value !== undefined && stringify(value) !== stringify(plainDefaults.get(name));
  return Object.fromEntries(entries.filter(isSet));
}
