import type { Configuration, OperatorConfig } from '../../config/schema.ts';
import { SecretMask, withCodings } from '../../outbound/secret-mask.ts';
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

interface Sorted {
  readonly all: readonly Account[];
  readonly kept: readonly Account[];
}

/** Which account an operator's calls go out as; the configuration may change at any time. */
export class Accounts {
  readonly #configuration: () => Configuration;
  /** Prepared once per list of secrets; a reload makes new lists. */
  readonly #prepared = new WeakMap<readonly string[], Pick<Account, 'key' | 'masked'>>();

  #sorted: (Sorted & { readonly of: Configuration }) | undefined;

  constructor(configuration: () => Configuration) {
    this.#configuration = configuration;
  }

  /** `bonuses.upstream` of the operator, else the aggregator's account. */
  of(operator: OperatorConfig): Account {
    const { gateway, operators } = this.#configuration();
    const own = operator.bonuses.upstream;
    if (own === undefined) return this.#aggregators(gateway);
    const shares = ({ id, bonuses }: OperatorConfig) =>
      id !== operator.id && bonuses.upstream?.cid === own.cid;
    const exclusive = own.cid !== gateway.service.cid && ![...operators.values()].some(shares);
    return { cid: own.cid, ...this.#prepare(own.secrets), exclusive };
  }

  /** The account of that cid, for the read-back; undefined when the configuration has it no more. */
  byCid(cid: string): Account | undefined {
    const { gateway, operators } = this.#configuration();
    if (cid === gateway.service.cid) return this.#aggregators(gateway);
    const operator = operators.values().find(({ bonuses }) => bonuses.upstream?.cid === cid);
    return operator && this.of(operator);
  }

  #aggregators({ service: { cid, secrets } }: Configuration['gateway']): Account {
    return { cid, ...this.#prepare(secrets), exclusive: false };
  }

  /**
   * The accounts of all operators, and the aggregator's: what fell silent is found also where the bonus API was
   * switched off since, or the last operator has left for an account of its own.
   */
  all(): readonly Account[] {
    return this.#sort().all;
  }

  /** Those of which an operator may be shown kept copies; the list of one's own account is the service's. */
  kept(): readonly Account[] {
    return this.#sort().kept;
  }

  #sort(): Sorted {
    const configuration = this.#configuration();
    // The read-back asks every second; a thousand operators are compared once a reload.
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
    const mask = new SecretMask(secrets.flatMap(withCodings));
    const prepared = { key, masked: (text: string) => mask.text(text) };
    this.#prepared.set(secrets, prepared);
    return prepared;
  }
}
