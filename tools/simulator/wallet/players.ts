import { addAmounts, subtractAmounts } from '../../../src/domain/amount.ts';

/** A player of the simulated operator, as a test or the demo describes one. */
export interface PlayerSeed {
  /** The operator's own id of the player. */
  readonly user: string;
  /** Opening balance per currency, decimal text. The first currency is the active one. */
  readonly balances: Readonly<Record<string, string>>;
  /** The operator's session tokens: token to currency. */
  readonly tokens?: Readonly<Record<string, string>>;
  readonly isTest?: boolean;
  /** Added to the profile's usual `customFields`, and overriding them. */
  readonly customFields?: Readonly<Record<string, unknown>>;
}

/** Whose token it is. `expired` is answered with code 4, unknown and revoked tokens with code 3. */
export type TokenVerdict =
  | { readonly kind: 'live'; readonly user: string; readonly currency: string }
  | { readonly kind: 'expired' }
  | { readonly kind: 'unknown' };

/** One player's money in one currency. */
export interface Account {
  readonly user: string;
  readonly currency: string;
  /** Money that did not come from bets: the opening balance and deposits. */
  readonly deposited: string;
  readonly balance: string;
}

interface Player {
  readonly seed: PlayerSeed;
  readonly accounts: Map<string, { deposited: string; balance: string }>;
  activeCurrency: string | undefined;
}

/** The operator's players, their tokens and their money, always as exact decimal text. */
export class Players {
  readonly #players = new Map<string, Player>();
  readonly #tokens = new Map<string, TokenVerdict>();

  /** @throws Error if the player exists already: a seed that silently changes money hides bugs */
  add(seed: PlayerSeed): void {
    if (this.#players.has(seed.user)) throw new Error(`player ${seed.user} exists already`);
    const accounts = new Map(
      Object.entries(seed.balances).map(([currency, balance]) => [
        currency,
        { deposited: balance, balance },
      ]),
    );
    this.#players.set(seed.user, { seed, accounts, activeCurrency: undefined });
    for (const [token, currency] of Object.entries(seed.tokens ?? {})) {
      this.issueToken(token, seed.user, currency);
    }
  }

  issueToken(token: string, user: string, currency: string): void {
    this.#account(user, currency);
    this.#tokens.set(token, { kind: 'live', user, currency });
  }

  endToken(token: string, why: 'expired' | 'revoked'): void {
    this.#tokens.set(token, { kind: why === 'expired' ? 'expired' : 'unknown' });
  }

  token(token: string | undefined): TokenVerdict {
    if (token === undefined) return { kind: 'unknown' };
    return this.#tokens.get(token) ?? { kind: 'unknown' };
  }

  /** Switches the account's active currency; `undefined`: back to the currency of the token. */
  switchCurrency(user: string, currency: string | undefined): void {
    this.#player(user).activeCurrency = currency;
  }

  activeCurrency(user: string): string | undefined {
    return this.#player(user).activeCurrency;
  }

  seed(user: string): PlayerSeed {
    return this.#player(user).seed;
  }

  has(user: string, currency: string): boolean {
    return this.#players.get(user)?.accounts.has(currency) ?? false;
  }

  currencies(user: string): readonly string[] {
    return [...this.#player(user).accounts.keys()];
  }

  balance(user: string, currency: string): string {
    return this.#account(user, currency).balance;
  }

  credit(user: string, currency: string, amount: string): void {
    const account = this.#account(user, currency);
    account.balance = addAmounts(account.balance, amount);
  }

  /** The balance may become negative: a payout that is taken back may have been spent already. */
  debit(user: string, currency: string, amount: string): void {
    const account = this.#account(user, currency);
    account.balance = subtractAmounts(account.balance, amount);
  }

  deposit(user: string, currency: string, amount: string): void {
    const account = this.#account(user, currency);
    account.deposited = addAmounts(account.deposited, amount);
    account.balance = addAmounts(account.balance, amount);
  }

  accounts(): Account[] {
    return [...this.#players].flatMap(([user, player]) =>
      [...player.accounts].map(([currency, money]) => ({ user, currency, ...money })),
    );
  }

  #player(user: string): Player {
    const player = this.#players.get(user);
    if (player === undefined) throw new Error(`no player ${user} at this wallet`);
    return player;
  }

  #account(user: string, currency: string): { deposited: string; balance: string } {
    const account = this.#player(user).accounts.get(currency);
    if (account === undefined) throw new Error(`player ${user} has no account in ${currency}`);
    return account;
  }
}
