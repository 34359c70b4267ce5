import { createHmac } from 'node:crypto';
import { expect } from 'vitest';
import { good } from '../../support/own-wallet.ts';
import {
  code,
  goodOr,
  leavesPlacesOpen,
  livesWell,
  type RealWallet,
  refusesPlaces,
  refusing,
} from './real-wallet.ts';

/** A separate secret for each wallet: a shared secret is refused. */
export const secretOf = (operatorId: string) => `the-secret-of-${operatorId}`;

/** A signature as wallets compute it themselves, for comparison as a whole. */
function jws(text: string, operatorId: string): string {
  const header = Buffer.from('{"alg":"HS256","typ":"JWT"}').toString('base64url');
  const input = `${header}.${Buffer.from(text).toString('base64url')}`;
  const mac = createHmac('sha256', secretOf(operatorId)).update(input).digest('base64url');
  return `${header}..${mac}`;
}

/** Deviations in how wallets verify signatures, in what they require, and in how their answers look. */
export const DEVIATING_WALLETS: readonly RealWallet[] = [
  {
    does: 'verifies by serialising the JSON again, and compares the whole header',
    answer: (call) => {
      const again = JSON.stringify(JSON.parse(call.text));
      const operatorId = call.path.split('/')[1] ?? '';
      return goodOr(call.headers['x-sign-jws'] === jws(again, operatorId), call, code(1));
    },
    shows: async (scene) => {
      const bet = await scene.unplaced();
      // As the service may send it: with whitespace, which the wallet's own serialisation would not have.
      const spaced = await bet.place({ metadata: '[ { "coefficient" : 1.5 } ]' });
      expect(spaced.status).toBe(200);
      await livesWell(scene);
    },
  },
  {
    does: 'requires a second header x-sign',
    dialect: { legacySign: true },
    answer: (call) => goodOr(call.headers['x-sign'] !== undefined, call, code(1)),
    shows: livesWell,
  },
  {
    does: 'demands a token on settle, unsettle and rollback too',
    dialect: { alwaysSendToken: true },
    answer: (call) => goodOr(String(call.json.token).startsWith('own-'), call, code(3)),
    shows: livesWell,
  },
  {
    does: 'refuses tokens over 20 characters',
    // It only knows its own operator's tokens, never the longer ones of the service.
    answer: (call) =>
      goodOr(call.json.token === undefined || String(call.json.token).length <= 20, call, code(3)),
    shows: livesWell,
  },
  {
    does: 'wants a numeric userId',
    // It only knows its own operator's ids.
    answer: (call) => goodOr(/^\d+$/.test(String(call.json.userId)), call, code(5)),
    shows: livesWell,
  },
  ...[401, 403, 404, 422].map(
    (status): RealWallet => ({
      does: `says no by HTTP ${status}`,
      dialect: { errorStatuses: { [status]: 7 } },
      answer: refusing('place', { status, body: { error: 'no' } }),
      shows: refusesPlaces(7),
    }),
  ),
  ...[401, 403, 404, 422, 500].map(
    (status): RealWallet => ({
      does: `says no by HTTP ${status}, and nobody has said what that means`,
      answer: refusing('place', { status, body: { code: 7 } }),
      shows: leavesPlacesOpen,
    }),
  ),
  {
    does: 'says no with the code of an exception that nobody has given one',
    answer: refusing('place', code(0)),
    shows: leavesPlacesOpen,
  },
  {
    does: 'says no by HTTP 500, whatever a dialect would like (I2)',
    dialect: { okCodes: [0], codeField: 'code', mapCodes: { place: { 7: 9 } } },
    answer: refusing('place', code(7, 500)),
    shows: leavesPlacesOpen,
  },
  {
    does: 'puts errors into an HTTP 200 with a code',
    dialect: { okCodes: [0] },
    answer: refusing('place', code(7, 200)),
    shows: refusesPlaces(7),
  },
  {
    does: 'puts errors into an HTTP 200 with a code, and nobody has said so',
    answer: refusing('place', code(7, 200)),
    shows: leavesPlacesOpen,
  },
  {
    does: 'succeeds with 201',
    dialect: { successStatuses: [200, 201] },
    answer: (call) => ({ status: 201, body: { transactionId: call.json.transactionId } }),
    shows: livesWell,
  },
  {
    does: 'succeeds with an extra code: 0',
    answer: (call) => ({ status: 200, body: { code: 0, transactionId: call.json.transactionId } }),
    shows: livesWell,
  },
  ...['errorCode', 'error'].map(
    (field): RealWallet => ({
      does: `calls the code ${field}`,
      dialect: { codeField: field },
      answer: refusing('place', { status: 400, body: { [field]: 7 } }),
      shows: refusesPlaces(7),
    }),
  ),
  ...[400, 404].map(
    (value): RealWallet => ({
      does: `repeats the status ${value} as the code`,
      dialect: { mapCodes: { place: { [value]: 5 } }, errorStatuses: { 404: 5 } },
      answer: refusing('place', code(value, value)),
      shows: refusesPlaces(5),
    }),
  ),
  {
    does: 'has its codes shifted: 9 for a duplicate, 2 for no money',
    dialect: { mapCodes: { place: { 9: 8, 2: 7 }, rollback: { 9: 8 } } },
    answer: (call) => (call.operation === 'place' ? code(2) : code(9)),
    shows: async (scene) => {
      await refusesPlaces(7)(scene);
    },
  },
  {
    does: 'says 9 for a duplicate, also of a place that only its own systems repeated',
    dialect: { mapCodes: { place: { 9: 8 }, rollback: { 9: 8 } } },
    answer: () => code(9),
    shows: async ({ unplaced }) => {
      const bet = await unplaced();
      // It may have debited: the service has to roll back, and code 9 then is the confirmation.
      expect((await bet.place()).json?.code).toBe(100);
      const answer = await bet.rollback();
      expect([answer.status, answer.json?.code]).toEqual([400, 8]);
    },
  },
  ...[{}, { transactionId: 'transaction_1' }].map(
    (body): RealWallet => ({
      does: `echoes ${'transactionId' in body ? 'another' : 'no'} transactionId`,
      dialect: { echo: 'ignore' },
      answer: () => ({ status: 200, body }),
      shows: livesWell,
    }),
  ),
  {
    does: 'has a transactionTime that is not ISO 8601',
    answer: (call) => ({
      status: 200,
      body: { transactionId: call.json.transactionId, transactionTime: '21.11.2026 10:00' },
    }),
    shows: async (scene) => {
      const answer = await (await scene.unplaced()).place();
      expect(answer.json?.transactionTime).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
      await livesWell(scene);
    },
  },
  {
    does: 'answers success with an empty body',
    dialect: { emptyOk: true },
    answer: () => ({ status: 200 }),
    shows: livesWell,
  },
  {
    does: 'signs its responses',
    answer: (call) => {
      const said = good(call);
      if (said === 'drop') return said;
      const signed = { 'x-sign-jws': jws(JSON.stringify(said.body), 'wallet-0'), 'x-sign': 'abc' };
      return { ...said, headers: signed };
    },
    shows: livesWell,
  },
  {
    does: 'has other paths',
    dialect: { paths: { profile: '/users/profile', balance: '/users/balance', bet: '/bets' } },
    answer: (call) => goodOr(/\/(bets|users\/\w+)$/.test(call.path), call, { status: 404 }),
    shows: livesWell,
  },
  {
    does: 'has other ids in balances than in profiles',
    answer: () => ({ status: 200, body: { userId: 'account-77', currency: 'USD', amount: 12.5 } }),
    shows: async ({ unplaced }) => {
      const { gateway: at, player } = await unplaced();
      const answer = await at.service.balance(player);
      expect(answer.json).toEqual({ userId: player.userId, currency: 'USD', amount: 12.5 });
    },
  },
  {
    does: 'lets only some source addresses in',
    answer: () => ({ status: 403, body: '<html>Forbidden</html>' }),
    shows: leavesPlacesOpen,
  },
];
