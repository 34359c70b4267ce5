import { randomUUID } from 'node:crypto';
import type { ResultType } from '../../domain/bet.ts';
import type { BetOperation } from '../../domain/operation.ts';
import {
  type BetSlip,
  balanceBody,
  placeBody,
  profileBody,
  type RawFields,
  rollbackBody,
  settleBody,
  unsettleBody,
  updateBody,
} from '../../protocol/callback-bodies.ts';
import { jsonString } from '../../protocol/json.ts';
import type { ForgedRequest } from './forged-requests.ts';
import type { RecordedCall } from './recorded-call.ts';
import type { WalletConnection } from './wallet-connection.ts';

/** The test player, as the operator knows it. */
export interface CertifiedPlayer {
  readonly userId: string;
  readonly token: string;
  readonly currency: string;
  /** A token of the player's whose session has ended, if one was named. */
  readonly endedToken?: string | undefined;
}

/** How a call differs from the usual one. */
export interface Odd {
  /** Raw JSON members over the usual ones; `undefined` leaves one out. */
  readonly more?: RawFields;
  /** The whole body instead. */
  readonly body?: string;
  readonly forgery?: ForgedRequest;
  readonly method?: 'POST' | 'PUT';
  /** Default: a new one. */
  readonly requestId?: string;
  /** Sent although the run is being stopped. */
  readonly isCleanUp?: boolean;
}

export interface Result {
  /** The payout, decimal text. */
  readonly amount: string;
  readonly resultType: ResultType;
  readonly token?: string;
}

/** Makes the service's calls in the operator's terms, as the gateway would send them. */
export class ServiceCaller {
  readonly connection: WalletConnection;
  readonly player: CertifiedPlayer;

  constructor(connection: WalletConnection, player: CertifiedPlayer) {
    this.connection = connection;
    this.player = player;
  }

  /** A new bet of the player's, not yet placed. */
  slip(changes: Partial<BetSlip> = {}): BetSlip {
    return {
      transactionId: randomUUID(),
      ...this.player,
      amount: '1',
      coefficient: '1.5',
      bonusId: null,
      bonusTemplateId: null,
      ...changes,
    };
  }

  profile(token: string = this.player.token, odd: Odd = {}): Promise<RecordedCall> {
    return this.#read('profile', (more) => profileBody(token, more), odd);
  }

  balance(changes: Partial<CertifiedPlayer> = {}, odd: Odd = {}): Promise<RecordedCall> {
    const player = { ...this.player, ...changes };
    return this.#read('balance', (more) => balanceBody(player, more), odd);
  }

  place(slip: BetSlip, odd: Odd = {}): Promise<RecordedCall> {
    return this.#bet('place', slip, (more) => placeBody(slip, more), odd);
  }

  settle(slip: BetSlip, result: Result, odd: Odd = {}): Promise<RecordedCall> {
    const { amount, resultType } = result;
    // A cashout carries exactly the given token, or none, because its cases are about that.
    const token = resultType === 'cashout' ? result.token : (result.token ?? this.#betToken(slip));
    return this.#bet(
      'settle',
      slip,
      (more) => settleBody(slip, { amount, resultType, token }, more),
      odd,
    );
  }

  unsettle(slip: BetSlip, amount: string, odd: Odd = {}): Promise<RecordedCall> {
    const token = this.#betToken(slip);
    const tokens = token === undefined ? {} : { token: jsonString(token) };
    return this.#bet(
      'unsettle',
      slip,
      (more) => unsettleBody(slip, amount, { ...tokens, ...more }),
      odd,
    );
  }

  rollback(slip: BetSlip, errorCode = 50, odd: Odd = {}): Promise<RecordedCall> {
    return this.#bet('rollback', slip, (more) => rollbackBody(slip, errorCode, more), odd);
  }

  update(slip: BetSlip, coefficient: string, odd: Odd = {}): Promise<RecordedCall> {
    return this.#bet('update', slip, (more) => updateBody(slip, coefficient, more), odd);
  }

  /** With `alwaysSendToken` the gateway puts the bet's token into every call. */
  #betToken(slip: BetSlip): string | undefined {
    return this.connection.adapter.callerDialect.alwaysSendToken ? slip.token : undefined;
  }

  #bet(
    operation: BetOperation,
    { transactionId }: BetSlip,
    bodyOf: (more: RawFields) => string,
    odd: Odd,
  ): Promise<RecordedCall> {
    const { requestId, body } = messageOf(bodyOf, odd);
    const method = odd.method ?? (operation === 'place' ? 'POST' : 'PUT');
    const deadline = this.connection.deadline();
    const call = { operation, method, body, transactionId, requestId, deadline };
    return this.connection.send({ kind: 'bet', call }, odd.forgery, odd.isCleanUp);
  }

  #read(
    operation: 'profile' | 'balance',
    bodyOf: (more: RawFields) => string,
    odd: Odd,
  ): Promise<RecordedCall> {
    const { requestId, body } = messageOf(bodyOf, odd);
    const call = { operation, body, requestId, deadline: this.connection.deadline() };
    return this.connection.send({ kind: 'read', call }, odd.forgery, odd.isCleanUp);
  }
}

/** As from the gateway, the body has the same request id as the header. */
function messageOf(
  bodyOf: (more: RawFields) => string,
  odd: Odd,
): { readonly requestId: string; readonly body: string } {
  const requestId = odd.requestId ?? randomUUID();
  return {
    requestId,
    body: odd.body ?? bodyOf({ requestId: jsonString(requestId), ...odd.more }),
  };
}
