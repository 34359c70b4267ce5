import type { Configuration, OperatorConfig } from '../../config/schema/schema.ts';
import { SecretMask, withCodings } from '../../outbound/secret-mask.ts';
import { type SigningKey, signingKeys } from '../../protocol/signature.ts';

/** The partner account at the service with which an operator's calls are made. */
export interface Account {
  /** Never sent to an operator. */
  readonly cid: string;
  readonly key: SigningKey;
  /** Masks the account's secrets, which the service may quote, and signatures. */
  readonly masked: (text: string) => string;
  /** Only one operator uses the account. If several share it, recorded ownership decides. */
  readonly exclusive: boolean;
}

interface Sorted {
  readonly all: readonly Account[];
  readonly kept: readonly Account[];
}

/** Which account an operator's calls use; the configuration may change at any time. */
export class Accounts {
  readonly #configuration: () => Configuration;
  /** Prepared once per list of secrets; a reload makes new lists. */
  readonly #prepared = new WeakMap<readonly string[], Pick<Account, 'key' | 'masked'>>();

  #sorted: (Sorted & { readonly of: Configuration }) | undefined;

  constructor(configuration: () => Configuration) {
    this.#configuration = configuration;
  }

  /** `bonuses.upstream` of the operator, or else the aggregator's account. */
  of(operator: OperatorConfig): Account {
    const { gateway, operators } = this.#configuration();
    const own = operator.bonuses.upstream;
    if (own === undefined) return this.#aggregators(gateway);
    const shares = ({ id, bonuses }: OperatorConfig) =>
      id !== operator.id && bonuses.upstream?.cid === own.cid;
    const exclusive = own.cid !== gateway.service.cid && ![...operators.values()].some(shares);
    return { cid: own.cid, ...this.#prepare(own.secrets), exclusive };
  }

  /** The account with this cid, for the read-back; undefined if it is no longer configured. */
  byCid(cid: string): Account | undefined {
    const { gateway, operators } = this.#configuration();
    if (cid === gateway.service.cid) return this.#aggregators(gateway);
    const operator = operators.values().find(({ bonuses }) => bonuses.upstream?.cid === cid);
    return operator && this.of(operator);
  }

  #aggregators({ service: { cid, secrets } }: Configuration['gateway']): Account {
    return { cid, ...this.#prepare(secrets), exclusive: false };
  }

  /** The accounts of all operators, and the aggregator's, also where the bonus API is switched off by now. */
  all(): readonly Account[] {
    return this.#sort().all;
  }

  /** The accounts whose templates are shown from stored copies; an exclusive account's list is the service's own. */
  kept(): readonly Account[] {
    return this.#sort().kept;
  }

  #sort(): Sorted {
    const configuration = this.#configuration();
    // Called every second by the read-back; a thousand operators are compared only once per reload.
    if (this.#sorted?.of !== configuration) {
      const aggregators = this.#aggregators(configuration.gateway);
      const all = new Map<string, Account>([[aggregators.cid, aggregators]]);
      const kept = new Map<string, Account>();
      for (const operator of configuration.operators.values()) {
        const account = this.of(operator);
        all.set(account.cid, account);
        if (operator.bonuses.enabled && !account.exclusive) kept.set(account.cid, account);
      }
      this.#sorted = { of: configuration, all: [...all.values()], kept: [...kept.values()] };
    }
    return this.#sorted;
  }

  /** The accounts with templates that are shared with an operator. */
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
    const mask = new SecretMask(secrets.flatMap(withCodings));
    const prepared = { key, masked: (text: string) => mask.text(text) };
    this.#prepared.set(secrets, prepared);
    return prepared;
  }
}
