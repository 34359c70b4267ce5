import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { balanceBody, placeBody, profileBody } from '../../../../src/protocol/callback-bodies.ts';
import { SignedClient } from '../../../../tools/simulator/signed-client.ts';
import { type SimulatedWallet, startWallet } from '../../../../tools/simulator/wallet/wallet.ts';
import samples from '../../../fixtures/samples.json' with { type: 'json' };

const SECRET = 'wallet-secret';
const ann = { token: 'ann-usd-token', userId: 'ann', currency: 'USD' };
const slip = {
  ...ann,
  transactionId: 'b26153f9-ef3a-4768-b6c8-0861acdecb7a',
  amount: '12.10',
  coefficient: '1.2',
  bonusId: null,
  bonusTemplateId: null,
};

let wallet: SimulatedWallet;
let client: SignedClient;

beforeEach(async () => {
  wallet = await startWallet({
    name: 'alpha',
    secret: SECRET,
    players: [
      {
        user: 'ann',
        balances: { USD: '9007199254740993.10', EUR: '5' },
        tokens: { [ann.token]: 'USD' },
      },
    ],
  });
  client = new SignedClient({ baseUrl: wallet.baseUrl, secret: SECRET });
});

afterEach(async () => {
  await client.close();
  await wallet.close();
});

const place = () => client.call('POST', '/payment/bet', placeBody(slip));

describe('the edge', () => {
  it.each([
    ['no signature', { signWith: null }],
    ['a signature with another secret', { signWith: 'other' }],
    ['a signature over other bytes', { headers: { 'x-sign-jws': 'e30..AAAA' } }],
  ])('answers %s with code 1 and looks at nothing', async (_what, options) => {
    const answer = await client.call('POST', '/payment/bet', placeBody(slip), options);
    expect(answer).toMatchObject({ status: 400, json: { code: 1 } });
    expect(wallet.arrivals(slip.transactionId)).toEqual([]);
  });

  it('takes a new secret without a restart', async () => {
    wallet.setSecrets(['new', SECRET]);
    const options = { signWith: 'new' };
    const answer = await client.call('POST', '/user/profile', profileBody(ann.token), options);
    expect(answer.status).toBe(200);
  });

  it.each([
    ['no JSON', '{'],
    ['a duplicate key', '{"token":"a","token":"b"}'],
    ['a negative amount', placeBody({ ...slip, amount: '-1' })],
    ['an amount as text', placeBody({ ...slip, amount: '"12"' })],
    ['an amount no books can hold', placeBody({ ...slip, amount: '1e-999' })],
    ['a settle by POST', placeBody(slip, { type: '2' })],
  ])('answers %s with code 5', async (_what, body) => {
    const answer = await client.call('POST', '/payment/bet', body);
    expect(answer).toMatchObject({ status: 400, json: { code: 5 } });
  });

  it('knows its paths and methods only', async () => {
    expect((await client.call('POST', '/user/other', '{}')).status).toBe(404);
    expect((await client.call('PUT', '/user/profile', '{}')).status).toBe(405);
    expect((await client.call('DELETE', '/payment/bet', '{}')).status).toBe(405);
  });

  it('remembers the latest requests byte for byte, up to a cap', async () => {
    const small = await startWallet({ name: 'small', secret: SECRET, requestsMax: 2 });
    const caller = new SignedClient({ baseUrl: small.baseUrl, secret: SECRET });
    for (const n of [1, 2, 3, 4, 5]) await caller.call('POST', `/n/${n}`, `{"n": ${n}}`);
    expect(small.requests.map(({ path }) => path)).toEqual(['/sportsbook/n/4', '/sportsbook/n/5']);
    expect(small.requests[1]?.body.toString()).toBe('{"n": 5}');
    expect(small.requests[1]?.headers['x-sign-jws']).toMatch(/^[\w-]+\.\.[\w-]+$/);
    await caller.close();
    await small.close();
  });
});

describe('profile', () => {
  it('has every required field of the published sample', async () => {
    const answer = await client.call('POST', '/user/profile', profileBody(ann.token));
    expect(Object.keys(answer.json ?? {})).toEqual(Object.keys(samples.userProfile.response));
    expect(answer.json).toMatchObject({
      userId: 'ann',
      currency: 'USD',
      currencies: ['USD', 'EUR'],
      isTest: false,
      customFields: { isCashOutAllowed: true },
    });
  });

  it('answers tokens that are unknown with code 3 and expired ones with code 4', async () => {
    const ask = (token: string) => client.call('POST', '/user/profile', profileBody(token));
    expect((await ask('nobody')).json).toMatchObject({ code: 3 });
    wallet.endToken(ann.token, 'expired');
    expect((await ask(ann.token)).json).toMatchObject({ code: 4 });
  });

  it('names the currency that the player switched to', async () => {
    wallet.switchCurrency('ann', 'EUR');
    const answer = await client.call('POST', '/user/profile', profileBody(ann.token));
    expect(answer.json?.currency).toBe('EUR');
  });

  it('knows players that come while it runs', async () => {
    wallet.addPlayer({ user: 'bob', balances: { EUR: '1' }, isTest: true });
    wallet.issueToken('bob-token', 'bob', 'EUR');
    const answer = await client.call('POST', '/user/profile', profileBody('bob-token'));
    expect(answer.json).toMatchObject({ userId: 'bob', currency: 'EUR', isTest: true });
  });
});

describe('balance', () => {
  it('gives the exact amount, beyond what a double holds (I9)', async () => {
    const answer = await client.call('POST', '/user/balance', balanceBody(ann));
    expect(answer.body).toBe('{"userId":"ann","currency":"USD","amount":9007199254740993.10}');
  });

  it('follows deposits and bets', async () => {
    wallet.deposit('ann', 'USD', '1.05');
    await place();
    expect(wallet.balance('ann', 'USD')).toBe('9007199254740982.05');
    expect(wallet.books().accounts[0]).toMatchObject({ deposited: '9007199254740994.15' });
  });

  it.each([
    ['currency', { currency: 'EUR' }],
    ['player', { userId: 'bob' }],
  ])('refuses a token of another %s with code 3', async (_what, other) => {
    const answer = await client.call('POST', '/user/balance', balanceBody({ ...ann, ...other }));
    expect(answer).toMatchObject({ status: 400, json: { code: 3 } });
  });
});

describe('bets', () => {
  it('answers as the protocol says and keeps the history of what arrived', async () => {
    const first = await place();
    expect(first.json).toEqual({
      transactionId: slip.transactionId,
      transactionTime: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    });
    expect((await place()).json).toEqual(first.json);
    const results = wallet.bets.get(slip.transactionId)?.history.map(({ result }) => result);
    expect(results).toEqual(['applied', 'repeated']);
    expect(wallet.arrivals(slip.transactionId, 'rollback')).toEqual([]);
  });

  it('tells a waiting test as soon as something arrived', async () => {
    const waiting = wallet.waitFor(({ bets }) => bets.has(slip.transactionId));
    await place();
    await waiting;
    await expect(wallet.waitFor(() => false, 1)).rejects.toThrow('in vain');
  });

  it('speaks a dialect when told to', async () => {
    const odd = await startWallet({
      name: 'odd',
      secret: SECRET,
      basePath: '',
      paths: { profile: '/users/profile' },
      rewrite: (answer) => ({ ...answer, status: answer.status === 400 ? 422 : 201 }),
    });
    const caller = new SignedClient({ baseUrl: odd.baseUrl, secret: SECRET });
    expect((await caller.call('POST', '/users/profile', profileBody('x'))).status).toBe(422);
    await caller.close();
    await odd.close();
  });
});
