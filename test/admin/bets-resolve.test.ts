import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { acceptedBet, hourPasses, lose } from '../money-safety/support/bets.ts';
import { startAdmin, type TestAdmin } from './support/admin.ts';

let admin: TestAdmin;
let doubtful: string;
beforeAll(async () => {
  admin = await startAdmin();
  const bet = await acceptedBet(admin.gateway, { operatorId: 'alpha' });
  lose(bet, 'settle');
  expect((await bet.settle('12.50')).status).toBe(503);
  await hourPasses(bet);
  doubtful = bet.transactionId;
});
afterAll(() => admin.close());

const ON_RECORD = { by: 'Ann, OPS-17', reason: 'their support says so' };
const RESULT = { holds: 'result', amount: '012.50', resultType: 'won', ...ON_RECORD };
const resolve = (transactionId: string, body: unknown) =>
  admin.post(`/admin/bets/${transactionId}/resolve`, body);

describe('POST /admin/bets/:transactionId/resolve', () => {
  it.each([
    [{ ...RESULT, holds: 'nothing' }, 'holds: must be stake or result'],
    [{ ...ON_RECORD }, 'holds: must be stake or result'],
    [{ ...RESULT, amount: 12.5 }, 'amount: must be given once, as text'],
    [{ ...RESULT, amount: '-1' }, 'amount: must be an amount such as 12.50'],
    [{ ...RESULT, amount: '1e3' }, 'amount: must be an amount such as 12.50'],
    [{ ...RESULT, resultType: 'void' }, 'resultType: must be one of won, lost, refund, cashout'],
    [{ ...RESULT, holds: 'stake' }, 'amount: is not known here'],
    [{ ...RESULT, by: ' ' }, 'by: must not be empty'],
    [{ ...RESULT, reason: undefined }, 'reason: must be a string'],
    [{ ...RESULT, note: 'x' }, 'note: is not known here'],
    ['[]', expect.any(String)],
  ])('does not guess what %j means', async (body, message) => {
    const { status, json } = await resolve(doubtful, body);
    expect([status, json]).toEqual([400, { code: 5, message }]);
  });

  it('is 404 for a bet that is not known', async () => {
    expect((await resolve('no-such-bet', RESULT)).status).toBe(404);
  });

  it('ends the doubt, on record with who said so (I12), and only once (I3)', async () => {
    const { status, json } = await resolve(doubtful, RESULT);
    expect([status, json]).toEqual([
      200,
      {
        transactionId: doubtful,
        operator: 'alpha',
        settlement: { state: 'settled', amount: '12.50', resultType: 'won' },
      },
    ]);
    const shown = (await admin.get(`/admin/bets/${doubtful}`)).json;
    expect(shown).toMatchObject({ state: 'settled', settlement: { amount: '12.50' } });
    const { items } = (await admin.get('/admin/audit?action=bet.resolve')).json;
    expect(items).toMatchObject([
      {
        ...{ actor: 'token', subject: `bet ${doubtful}`, operator: 'alpha' },
        before: { result: 'unknown', amount: '12.50', resultType: 'won' },
        after: { result: 'settled', amount: '12.50', resultType: 'won', by: 'Ann, OPS-17' },
        reason: 'their support says so',
      },
    ]);
    const again = await resolve(doubtful, { holds: 'stake', ...ON_RECORD });
    expect([again.status, again.json.message]).toEqual([
      409,
      'The result of the bet is not unknown',
    ]);
  });
});
