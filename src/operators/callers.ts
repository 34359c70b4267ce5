import { randomUUID } from 'node:crypto';
import type { Configuration, OperatorConfig } from '../config/schema/schema.ts';
import { type SigningKey, signingKeys } from '../protocol/signature.ts';

/** The operator of a `cid`, if there is one, and the keys to verify its signature with. */
export interface KnownCaller {
  /** Undefined if no operator has the `cid`. */
  readonly operator: OperatorConfig | undefined;
  /** Equally many for every `cid`, even an unknown one: timing must not reveal how many secrets an operator has. */
  readonly keys: readonly SigningKey[];
  /** By `api.allowedIps`. */
  readonly isAllowed: (address: string) => boolean;
}

type AddressMatcher = (cidrs: readonly string[]) => (address: string) => boolean;

interface Prepared {
  readonly madeFrom: Configuration;
  readonly byCid: ReadonlyMap<string, KnownCaller>;
  readonly nobody: KnownCaller;
}

/** Nobody has this secret; signatures are compared with its key too. */
const FILLER_SECRET = randomUUID();

/** The operators by their `cid`, prepared once for each configuration. */
export class Callers {
  readonly #configuration: () => Configuration;
  readonly #addressMatcher: AddressMatcher;
  #prepared: Prepared | undefined;

  constructor(configuration: () => Configuration, addressMatcher: AddressMatcher) {
    this.#configuration = configuration;
    this.#addressMatcher = addressMatcher;
  }

  find(cid: string): KnownCaller {
    const { byCid, nobody } = this.#current();
    return byCid.get(cid) ?? nobody;
  }

  #current(): Prepared {
    const configuration = this.#configuration();
    if (this.#prepared?.madeFrom === configuration) return this.#prepared;
    const operators = [...configuration.operators.values()];
    const count = operators.reduce((most, { api }) => Math.max(most, api.secrets.length), 1);
    const fillers = signingKeys(Array.from({ length: count }, () => FILLER_SECRET));
    const prepared = {
      madeFrom: configuration,
      byCid: new Map(
        operators.map((operator) => [operator.api.cid, this.#caller(operator, fillers)]),
      ),
      nobody: { operator: undefined, keys: fillers, isAllowed: () => false },
    };
    this.#prepared = prepared;
    return prepared;
  }

  #caller(operator: OperatorConfig, fillers: readonly SigningKey[]): KnownCaller {
    const { secrets, allowedIps } = operator.api;
    const own = signingKeys(secrets);
    return {
      operator,
      keys: [...own, ...fillers.slice(own.length)],
      isAllowed: allowedIps.length === 0 ? () => true : this.#addressMatcher(allowedIps),
    };
  }
}
