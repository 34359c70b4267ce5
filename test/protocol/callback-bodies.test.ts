import { expect, it } from 'vitest';
import {
  balanceBody,
  placeBody,
  profileBody,
  rollbackBody,
  settleBody,
  unsettleBody,
  updateBody,
} from '../../src/protocol/callback-bodies.ts';
import samples from '../fixtures/samples.json' with { type: 'json' };

const sample = samples.placeBet.request;
const slip = {
  transactionId: sample.transactionId,
  token: sample.token,
  userId: sample.userId,
  currency: sample.currency,
  amount: '12.12',
  coefficient: '1.2',
  bonusId: null,
  bonusTemplateId: null,
};
const token = undefined;

it.each([
  ['profile', profileBody(sample.token), samples.userProfile.request],
  ['balance', balanceBody(slip), samples.userBalance.request],
  ['place', placeBody(slip), samples.placeBet.request],
  [
    'settle',
    settleBody(slip, { amount: '14.54', resultType: 'won', token }),
    samples.settleWon.request,
  ],
  [
    'cashout',
    settleBody(slip, { amount: '10', resultType: 'cashout', token: slip.token }),
    samples.settleCashout.request,
  ],
  ['unsettle', unsettleBody(slip, '14.54'), samples.unsettle.request],
  ['rollback', rollbackBody(slip, 50), samples.rollback.request],
  ['update', updateBody(slip, '1.2'), samples.betDataUpdate.request],
])('builds a %s with the fields and values of the sample', (_name, body, published) => {
  expect(JSON.parse(body)).toEqual({ ...published, requestId: expect.any(String) });
});

it('keeps the exact text of amounts and takes raw members (I9)', () => {
  const body = placeBody({ ...slip, amount: '12.10' }, { later: '1e400', info: undefined });
  expect(body).toContain('"amount":12.10,');
  expect(body).toContain('"later":1e400}');
  expect(body).not.toContain('"info"');
});
