import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { resolveResult } from '../../src/operations/resolve-result.ts';
import { type BetInDoubt, UnknownResults } from '../../src/store/bets/unknown-results.ts';
import { deliveriesOf } from '../deliveries/support/deliveries.ts';
import { BY } from '../support/audit.ts';
import type { TestBet } from '../support/bet.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { onServer, waitForLock } from '../support/server.ts';
import { betInDoubt } from './support/bets.ts';
import { PATIENT, QUICK } from './support/patience.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway({ gateway: QUICK, operators: { alpha: PATIENT } });
});
afterEach(() => gateway.wallet('alpha').behave());
afterAll(() => gateway.close());

const WORD = { who: 'ann', why: 'asked their support', by: BY };
const found = { kind: 'stake' } as const;

/** Something else happens after the bet was read, and before anything is written. */
class ReadBefore extends UnknownResults {
  readonly #then: () => Promise<void>;
  #isRead = false;

  constructor(then: () => Promise<void>) {
    super(gateway.parts.database);
    this.#then = then;
  }

  override async find(transactionId: string): Promise<BetInDoubt | undefined> {
    const read = await super.find(transactionId);
    if (!this.#isRead) await this.#then();
    this.#isRead = true;
    return read;
  }
}

describe('a person’s word about a result (I6)', () => {
  it('is not written over a repeat that has begun since the bet was read', async () => {
    const bet = await betInDoubt(gateway);
    const { transactionId } = bet;
    const gate = bet.wallet.hold('settle', { transactionId, point: 'after' });
    let repeat: ReturnType<TestBet['settle']> | undefined;
    const results = new ReadBefore(async () => {
      repeat = bet.settle('20');
      await gate.arrived;
    });
    const word = { ...WORD, found };
    const why = expect.stringContaining('settle is on its way');
    const said = await resolveResult(results, transactionId, word, () => 60_000);
    expect(said).toEqual({ kind: 'refused', why });
    gate.release();
    expect(await repeat).toMatchObject({ status: 200 });
    expect(await deliveriesOf(bet)).toEqual([]);
  });

  it('nor over a change that is just being committed', async () => {
    const bet = await betInDoubt(gateway);
    const { transactionId } = bet;
    const results = new UnknownResults(gateway.parts.database);
    const read = await results.find(transactionId);
    if (read === undefined) throw new Error('it is in the journal');
    const [newest] = read.operations;
    const settlement = { kind: 'unsettled', transactionTime: new Date().toISOString() } as const;
    const said = { ...WORD, bet: read.bet, operationId: newest?.id ?? '', settlement };
    const written = await onServer(gateway.databaseUrl, async (client) => {
      await client.query('BEGIN');
      const change = 'UPDATE bets SET version = version + 1 WHERE transaction_id = $1';
      await client.query(change, [transactionId]);
      const resolving = results.resolve({ ...said, attempted: undefined });
      await waitForLock(gateway.databaseUrl);
      await client.query('COMMIT');
      return await resolving;
    });
    expect(written).toBe(false);
    expect(await deliveriesOf(bet)).toEqual([]);
  });
});
