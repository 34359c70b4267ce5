import { expect, vi } from 'vitest';
import {
  type BetSlip,
  placeBody,
  type RawFields,
  rollbackBody,
  settleBody,
  unsettleBody,
  updateBody,
} from '../../src/protocol/callback-bodies.ts';
import type { ServicePlayer } from '../../tools/simulator/service.ts';
import type { CallResult } from '../../tools/simulator/signed-client.ts';
import type { Arrival } from '../../tools/simulator/wallet/arrivals.ts';
import type { ResultType } from '../../tools/simulator/wallet/calls.ts';
import type { RecordedRequest } from '../../tools/simulator/wallet/recorder.ts';
import type { SimulatedWallet } from '../../tools/simulator/wallet/wallet.ts';
import type { TestGateway } from './gateway.ts';
import { onServer } from './server.ts';
import { watchStatements } from './statements.ts';
import { PATIENT_MS } from './timing.ts';

export type TestPlayer = Awaited<ReturnType<TestGateway['player']>>;

/** A delivery's row; one that guards a call still under way is `live`. */
export interface DeliveryRow {
  readonly operation: string;
  readonly state: string;
  readonly attempts: number;
}

/** One bet of one player, with every operation that the service can send about it; each call sends it once. */
export class TestBet {
  readonly gateway: TestGateway;
  readonly player: TestPlayer;
  readonly slip: BetSlip;
  readonly #operatorId: string;

  constructor(gateway: TestGateway, player: TestPlayer, slip: BetSlip, operatorId: string) {
    this.gateway = gateway;
    this.player = player;
    this.slip = slip;
    this.#operatorId = operatorId;
  }

  /** The same bet, sent to another replica. */
  at(replica: TestGateway): TestBet {
    return new TestBet(replica, this.player, this.slip, this.#operatorId);
  }

  get transactionId(): string {
    return this.slip.transactionId;
  }

  get wallet(): SimulatedWallet {
    return this.gateway.wallet(this.#operatorId);
  }

  place(more?: RawFields): Promise<CallResult> {
    return this.gateway.service.call('POST', '/payment/bet', placeBody(this.slip, more));
  }

  /** @param token sent only if given */
  settle(
    amount: string,
    resultType: ResultType = 'won',
    token?: string,
    more?: RawFields,
  ): Promise<CallResult> {
    return this.#put(settleBody(this.slip, { amount, resultType, token }, more));
  }

  unsettle(more?: RawFields): Promise<CallResult> {
    return this.#put(unsettleBody(this.slip, '10', more));
  }

  rollback(more?: RawFields): Promise<CallResult> {
    return this.#put(rollbackBody(this.slip, 50, more));
  }

  update(coefficient: string, more?: RawFields): Promise<CallResult> {
    return this.#put(updateBody(this.slip, coefficient, more));
  }

  /** The operations that reached the operator's wallet, in order. */
  arrivals(): readonly Arrival['operation'][] {
    return this.wallet.arrivals(this.transactionId).map(({ operation }) => operation);
  }

  balance(): string {
    return this.wallet.balance(this.player.user, this.player.currency);
  }

  /** The latest request about this bet, exactly as it reached the wallet. */
  lastRequest(): RecordedRequest {
    const about = this.wallet.requests.filter(({ body }) => body.includes(this.transactionId));
    const last = about.at(-1);
    if (last === undefined) throw new Error(`the wallet never heard of bet ${this.transactionId}`);
    return last;
  }

  /** The gateway's promises for this bet, oldest first. */
  async deliveries(): Promise<readonly DeliveryRow[]> {
    return await onServer(this.gateway.databaseUrl, async (client) => {
      const { rows } = await client.query<DeliveryRow>(
        `SELECT operation, state, attempts FROM deliveries
          WHERE transaction_id = $1 AND purpose = 'promise' ORDER BY id`,
        [this.transactionId],
      );
      return rows;
    });
  }

  /** Resolves when this process looks the bet up a second time: then the first operation waits. */
  async isWaitedFor(): Promise<void> {
    const { sent, end } = watchStatements(this.gateway);
    const looks = () =>
      sent().filter(
        ({ name, values }) => name === 'bet-find' && String(values[0]).includes(this.transactionId),
      );
    const again = () => expect(looks().length).toBeGreaterThan(1);
    await vi.waitFor(again, { interval: 2, timeout: PATIENT_MS });
    end();
  }

  /** Leaves the bet as a process does that was killed in the middle of a wallet call. */
  async leaveBusy(
    operation: 'place' | 'settle' | 'rollback' | 'update',
    lease: 'held' | 'lapsed' = 'held',
  ): Promise<void> {
    await onServer(this.gateway.databaseUrl, async (client) => {
      const place = operation === 'place' ? `, place = 'in_flight', place_time = NULL` : '';
      const { rowCount } = await client.query(
        `UPDATE bets SET busy_operation = $2, busy_attempt = gen_random_uuid(),
                busy_until = clock_timestamp() + make_interval(secs => $3),
                version = version + 1 ${place}
          WHERE transaction_id = $1`,
        [this.transactionId, operation, lease === 'held' ? 15 : -1],
      );
      if (rowCount !== 1) throw new Error(`no bet ${this.transactionId} in the journal`);
    });
  }

  #put(body: string): Promise<CallResult> {
    return this.gateway.service.call('PUT', '/payment/bet', body);
  }
}

export interface BetOptions {
  readonly operatorId?: string;
  readonly amount?: string;
  readonly player?: TestPlayer;
}

/** A bet that nobody knows yet; its player has 1000. */
export async function unplacedBet(
  gateway: TestGateway,
  { operatorId = 'alpha', amount = '100', player }: BetOptions = {},
): Promise<TestBet> {
  const whose = player ?? (await gateway.player({ operatorId }));
  return new TestBet(gateway, whose, gateway.service.slip({ ...whose, amount }), operatorId);
}

/** A bet that its wallet has accepted. @throws Error if it has not */
export async function placedBet(gateway: TestGateway, options: BetOptions = {}): Promise<TestBet> {
  const bet = await unplacedBet(gateway, options);
  const answer = await bet.place();
  if (answer.status !== 200) throw new Error(`not placed: ${answer.status} ${answer.body}`);
  return bet;
}

/** Sends the same bet under another player's id. */
export function asPlayer(player: ServicePlayer): RawFields {
  return { userId: JSON.stringify(player.userId) };
}

/** Lets a session expire on PostgreSQL's clock, which is the one that counts. */
export async function expireSession(gateway: TestGateway, token: string): Promise<void> {
  await onServer(gateway.databaseUrl, async (client) => {
    const { rowCount } = await client.query(
      `UPDATE sessions SET expires_at = clock_timestamp() - interval '1 second'
        WHERE token_hash = sha256($1::bytea)`,
      [Buffer.from(token)],
    );
    if (rowCount !== 1) throw new Error('no session of this token');
  });
}
