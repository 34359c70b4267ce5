import { createHmac } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { CHARACTERS, type Fate } from '../../../tools/torture/plan/plan.ts';
import { type Arrival, Wallet } from '../../../tools/torture/world/wallet.ts';
import { PATIENT_MS } from '../../support/timing.ts';

const BODY = JSON.stringify({
  ...{ type: 1, transactionId: 'bet', requestId: 'r', userId: 'u', token: 'token' },
  ...{ amount: 10, currency: 'USD' },
});
const FATE: Fate = {
  ...{ id: 'f', operation: 'place', nth: 0, effect: 'now', answer: 'good', delayMs: 0, code: 100 },
};

function signatureOf(body: string, secret: string): string {
  const head = Buffer.from('{"alg":"HS256","typ":"JWT"}').toString('base64url');
  const input = `${head}.${Buffer.from(body).toString('base64url')}`;
  return `${head}..${createHmac('sha256', secret).update(input).digest('base64url')}`;
}

describe('the wallet of the torture test', () => {
  let wallet: Wallet;
  let arrivals: Arrival[];

  beforeEach(async () => {
    arrivals = [];
    wallet = new Wallet('alpha', CHARACTERS.alpha, 'secret');
    wallet.ledger.addPlayer('u', 'token', '100');
    await wallet.up();
  });
  afterEach(() => wallet.close());

  function place(fate?: Partial<Fate>, secret = 'secret'): Promise<Response> {
    wallet.watch('bet', {
      fateOf: () => fate && { ...FATE, ...fate },
      arrived: (arrival) => arrivals.push(arrival),
      booked: () => undefined,
    });
    return fetch(`${wallet.baseUrl}/payment/bet`, {
      method: 'POST',
      body: BODY,
      headers: { 'x-sign-jws': signatureOf(BODY, secret) },
      signal: AbortSignal.timeout(1_000),
    });
  }
  const isHeld = () => wallet.ledger.bets.has('bet');

  it('books and answers what is signed, by any of its secrets', async () => {
    wallet.secrets = ['new', 'secret'];
    expect((await place()).status).toBe(200);
    expect(isHeld()).toBe(true);
  });

  it('refuses what is not signed as agreed', async () => {
    expect(await (await place(undefined, 'other')).json()).toMatchObject({ code: 1 });
    expect(isHeld()).toBe(false);
  });

  it('executes a call without answering', async () => {
    await expect(place({ answer: 'reset' })).rejects.toThrow();
    expect(isHeld()).toBe(true);
    expect(arrivals).toMatchObject([{ isUncertain: true }]);
  });

  it('claims an execution that did not happen', async () => {
    expect((await place({ effect: 'never', answer: 'html' })).status).toBe(200);
    expect(isHeld()).toBe(false);
  });

  it('does it late, and says while it has not', async () => {
    const late = { effect: 'late', answer: 'status500', delayMs: 150 } as const;
    expect((await place(late)).status).toBe(500);
    expect([isHeld(), wallet.lateOnes]).toEqual([false, 1]);
    await vi.waitFor(() => expect([isHeld(), wallet.lateOnes]).toEqual([true, 0]), PATIENT_MS);
  });

  it('notes when a call ended, also by its caller', async () => {
    await expect(place({ answer: 'hang' })).rejects.toThrow();
    await vi.waitFor(() => expect(arrivals[0]?.endedAtMs).toBeDefined(), PATIENT_MS);
  });
});
