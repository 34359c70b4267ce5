import type { Configuration, OperatorConfig } from '../../config/schema.ts';
import { type SigningKey, signingKeys } from '../../protocol/signature.ts';

/** A partner account at the service, as which an operator's calls go out. */
export interface Account {
  /** Never leaves towards an operator. */
  readonly cid: string;
  readonly key: SigningKey;
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
  readonly #keys = new WeakMap<readonly string[], SigningKey>();

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
      return { cid, key: this.#keyOf(secrets), exclusive: false };
    }
    const shares = ({ id, bonuses }: OperatorConfig) =>
      id !== operator.id && bonuses.upstream?.cid === own.cid;
    const exclusive = own.cid !== gateway.service.cid && ![...operators.values()].some(shares);
    return { cid: own.cid, key: this.#keyOf(own.secrets), exclusive };
  }

  /** The account of that cid, for the read-back; undefined when the configuration has it no more. */
  byCid(cid: string): Account | undefined {
    const { gateway, operators } = this.#configuration();
    if (cid === gateway.service.cid) {
      return { cid, key: this.#keyOf(gateway.service.secrets), exclusive: false };
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

  #keyOf(secrets: readonly string[]): SigningKey {
    const known = this.#keys.get(secrets);
    if (known !== undefined) return known;
    const [key] = signingKeys(secrets.slice(0, 1));
    if (key === undefined) throw new Error('the configuration allows no account without a secret');
    this.#keys.set(secrets, key);
    return key;
  }
}
