import type { Configuration, OperatorConfig } from '../../config/schema.ts';
import { SecretMask } from '../../outbound/secret-mask.ts';
import { type SigningKey, signingKeys } from '../../protocol/signature.ts';

/** A partner account at the service, as which an operator's calls go out. */
export interface Account {
  /** Never leaves towards an operator. */
  readonly cid: string;
  readonly key: SigningKey;
  /** What the service says without the account's secrets, which it may quote, and without signatures. */
  readonly masked: (text: string) => string;
  /**
   * The account is one operator's alone, so whatever it holds is that operator's. Not so where
   * several share one: then ownership decides, as at the aggregator's.
   */
  readonly exclusive: boolean;
}

/** Which account an operator's calls go out as; the configuration may change at any time. */
export class Accounts {
  readonly #configuration: () => Configuration;
  /** Prepared once per list of secrets; a reload makes new lists. */
  readonly #prepared = new WeakMap<readonly string[], Pick<Account, 'key' | 'masked'>>();

  #all: { readonly of: Configuration; readonly accounts: readonly Account[] } | undefined;

  constructor(configuration: () => Configuration) {
    this.#configuration = configuration;
  }

  /** `bonuses.upstream` of the operator, else the aggregator's account. */
  of(operator: OperatorConfig): Account {
    const { gateway, operators } = this.#configuration();
    const own = operator.bonuses.upstream;
    if (own === undefined) {
      const { cid, secrets } = gateway.service;
      return { cid, ...this.#prepare(secrets), exclusive: false };
    }
    const shares = ({ id, bonuses }: OperatorConfig) =>
      id !== operator.id && bonuses.upstream?.cid === own.cid;
    const exclusive = own.cid !== gateway.service.cid && ![...operators.values()].some(shares);
    return { cid: own.cid, ...this.#prepare(own.secrets), exclusive };
  }

  /** The account of that cid, for the read-back; undefined when the configuration has it no more. */
  byCid(cid: string): Account | undefined {
    const { gateway, operators } = this.#configuration();
    if (cid === gateway.service.cid) {
      return { cid, ...this.#prepare(gateway.service.secrets), exclusive: false };
    }
    const operator = operators.values().find(({ bonuses }) => bonuses.upstream?.cid === cid);
    return operator && this.of(operator);
  }

  /** Every account that an operator may use the bonus API with. */
  all(): readonly Account[] {
    const configuration = this.#configuration();
    // The read-back asks every second; a thousand operators are compared once a reload.
    if (this.#all?.of !== configuration) {
      const using = [...configuration.operators.values()].filter(({ bonuses }) => bonuses.enabled);
      const accounts = using.map((operator) => this.of(operator));
      const byCid = new Map(accounts.map((account) => [account.cid, account]));
      this.#all = { of: configuration, accounts: [...byCid.values()] };
    }
    return this.#all.accounts;
  }

  /** The accounts of which an operator sees shared templates. */
  sharing(): readonly string[] {
    const operators = [...this.#configuration().operators.values()];
    const seeing = operators.filter(({ bonuses }) => bonuses.sharedTemplates.length > 0);
    return [...new Set(seeing.map((operator) => this.of(operator).cid))];
  }

  #prepare(secrets: readonly string[]): Pick<Account, 'key' | 'masked'> {
    const known = this.#prepared.get(secrets);
    if (known !== undefined) return known;
    const [key] = signingKeys(secrets.slice(0, 1));
    if (key === undefined) throw new Error('the configuration allows no account without a secret');
    const mask = new SecretMask(secrets);
    const prepared = { key, masked: (text: string) => mask.text(text) };
    this.#prepared.set(secrets, prepared);
    return prepared;
  }
}
