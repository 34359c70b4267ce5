import { randomUUID } from 'node:crypto';
import type { ResultType } from '../domain/bet.ts';
import type { BetOperation } from '../domain/operation.ts';
import {
  type BetSlip,
  balanceBody,
  objectText,
  placeBody,
  type RawFields,
  rollbackBody,
  settleBody,
  unsettleBody,
  updateBody,
} from '../protocol/callback-bodies.ts';
import { jsonString } from '../protocol/json.ts';
import type { Sighting } from './recorded-call.ts';
import type { Tamper, WalletLine } from './wallet-connection.ts';

/** The test player, as the operator knows it. */
export interface CertifiedPlayer {
  readonly userId: string;
  readonly token: string;
  readonly currency: string;
}

/** How a call departs from the usual one. */
export interface Odd {
  /** Raw JSON members over the usual ones; `undefined` leaves one out. */
  readonly more?: RawFields;
  /** The whole body instead. */
  readonly body?: string;
  readonly tamper?: Tamper;
  readonly method?: 'POST' | 'PUT';
  /** Default: a new one. */
  readonly requestId?: string;
  /** Sent although the run is to stop. */
  readonly isCleanUp?: boolean;
}

export interface Result {
  /** The payout, decimal text. */
  readonly amount: string;
  readonly resultType: ResultType;
  readonly token?: string;
}

/** Makes the service's calls in the operator's terms, as they would leave the gateway. */
export class Caller {
  readonly #line: WalletLine;
  readonly player: CertifiedPlayer;

  constructor(line: WalletLine, player: CertifiedPlayer) {
    this.#line = line;
    this.player = player;
  }

  get line(): WalletLine {
    return this.#line;
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

  profile(token: string = this.player.token, odd: Odd = {}): Promise<Sighting> {
    const requestId = odd.requestId ?? randomUUID();
    const body = objectText({
      token: jsonString(token),
      requestId: jsonString(requestId),
      ...odd.more,
    });
    return this.#read('profile', requestId, odd.body ?? body, odd);
  }

  balance(changes: Partial<CertifiedPlayer> = {}, odd: Odd = {}): Promise<Sighting> {
    const body = balanceBody({ ...this.player, ...changes });
    return this.#read('balance', odd.requestId ?? randomUUID(), odd.body ?? body, odd);
  }

  place(slip: BetSlip, odd: Odd = {}): Promise<Sighting> {
    return this.#bet('place', slip, (more) => placeBody(slip, more), odd);
  }

  settle(slip: BetSlip, result: Result, odd: Odd = {}): Promise<Sighting> {
    const { amount, resultType } = result;
    // A cashout carries the token that it is given, or none: that is what its cases are about.
    const token = resultType === 'cashout' ? result.token : (result.token ?? this.#betToken(slip));
    return this.#bet(
      'settle',
      slip,
      (more) => settleBody(slip, { amount, resultType, token }, more),
      odd,
    );
  }

  unsettle(slip: BetSlip, amount: string, odd: Odd = {}): Promise<Sighting> {
    const token = this.#betToken(slip);
    const tokens = token === undefined ? {} : { token: jsonString(token) };
    return this.#bet(
      'unsettle',
      slip,
      (more) => unsettleBody(slip, amount, { ...tokens, ...more }),
      odd,
    );
  }

  rollback(slip: BetSlip, errorCode = 50, odd: Odd = {}): Promise<Sighting> {
    return this.#bet('rollback', slip, (more) => rollbackBody(slip, errorCode, more), odd);
  }

  update(slip: BetSlip, coefficient: string, odd: Odd = {}): Promise<Sighting> {
    return this.#bet('update', slip, (more) => updateBody(slip, coefficient, more), odd);
  }

  /** `alwaysSendToken`: with it the gateway gives the bet's token to every call. */
  #betToken(slip: BetSlip): string | undefined {
    return this.#line.adapter.callerDialect.alwaysSendToken ? slip.token : undefined;
  }

  #bet(
    operation: BetOperation,
    { transactionId }: BetSlip,
    bodyOf: (more: RawFields) => string,
    odd: Odd,
  ): Promise<Sighting> {
    const requestId = odd.requestId ?? randomUUID();
    const body = odd.body ?? bodyOf({ requestId: jsonString(requestId), ...odd.more });
    const method = odd.method ?? (operation === 'place' ? 'POST' : 'PUT');
    const deadline = this.#line.deadline();
    const call = { operation, method, body, transactionId, requestId, deadline };
    return this.#line.send({ kind: 'bet', call }, odd.tamper, odd.isCleanUp);
  }

  #read(
    operation: 'profile' | 'balance',
    requestId: string,
    body: string,
    odd: Odd,
  ): Promise<Sighting> {
    const call = { operation, body, requestId, deadline: this.#line.deadline() };
    return this.#line.send({ kind: 'read', call }, odd.tamper, odd.isCleanUp);
  }
}
