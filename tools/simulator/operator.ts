import type { BonusMethod } from '../../src/bonuses/method-names.ts';
import { type CallOptions, type CallResult, SignedClient } from './signed-client.ts';

export interface OperatorOptions {
  /** The gateway's public address. */
  readonly baseUrl: string;
  /** The operator's key at the gateway. */
  readonly cid: string;
  readonly secret: string;
  readonly timeoutMs?: number;
}

export interface SessionRequest {
  readonly operatorUser: string;
  readonly currency: string;
  readonly operatorToken: string;
  readonly ttlSeconds?: number;
}

/** An open session: what the operator's frontend hands to the frame. */
export interface OpenSession {
  /** The aggregator's id of the player. */
  readonly userId: string;
  readonly token: string;
  readonly expiresAt: string;
}

export function createOperator(options: OperatorOptions): SimulatedOperator {
  return new SimulatedOperator(options);
}

/** An operator's backend as a client of the gateway: every body contains `cid` and is signed. */
export class SimulatedOperator {
  readonly #client: SignedClient;
  readonly #cid: string;

  /** Use `createOperator`. */
  constructor(options: OperatorOptions) {
    const { baseUrl, secret, cid, timeoutMs = 15_000 } = options;
    this.#client = new SignedClient({ baseUrl, secret, timeoutMs });
    this.#cid = cid;
  }

  /** Any signed POST by this operator; `cid` is added. */
  call(path: string, fields: object, options: CallOptions = {}): Promise<CallResult> {
    return this.#client.call('POST', path, { cid: this.#cid, ...fields }, options);
  }

  /** @returns the answer, and the session if one was opened or was open already */
  async openSession(
    request: SessionRequest,
  ): Promise<CallResult & { readonly session?: OpenSession }> {
    const result = await this.call('/operator/sessions', request);
    const { userId, token, expiresAt } = result.json ?? {};
    const isOpen =
      result.status === 201 &&
      typeof userId === 'string' &&
      typeof token === 'string' &&
      typeof expiresAt === 'string';
    return isOpen ? { ...result, session: { userId, token, expiresAt } } : result;
  }

  /** Ends one session, or all sessions of a player. */
  revokeSessions(which: { token: string } | { operatorUser: string }): Promise<CallResult> {
    return this.call('/operator/sessions/revoke', which);
  }

  /** The bet as the gateway knows it. */
  bet(transactionId: string): Promise<CallResult> {
    return this.call('/operator/bets', { transactionId });
  }

  /** Calls a method of the bonus API with this operator's own user ids; numbers as doubles. */
  bonuses(method: BonusMethod, fields: object = {}): Promise<CallResult> {
    return this.call(`/bonuses/${method}`, fields);
  }

  async close(): Promise<void> {
    await this.#client.close();
  }
}
