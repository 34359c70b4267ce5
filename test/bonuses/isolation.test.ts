import { afterAll, beforeAll, expect, it } from 'vitest';
import { placedBet } from '../support/bet.ts';
import { type BonusGateway, startBonusGateway } from './support/bonus-gateway.ts';

/** The service hangs for longer than this test's callbacks take. */
const TIMEOUT_MS = 60_000;
const HANGING = 200;
const BALANCES = 50;

let deployment: BonusGateway;
let template: number;
beforeAll(async () => {
  deployment = await startBonusGateway({ service: { bonusTimeoutMs: TIMEOUT_MS } });
  template = await deployment.template(deployment.alpha);
});
afterAll(() => deployment.close());

const inFlight = () => deployment.api.requests.filter(({ method }) => method === 'template').length;

it('answers callbacks while two hundred bonus calls hang (I7)', async () => {
  const player = await deployment.gateway.player();
  await deployment.gateway.service.balance(player);
  const gate = deployment.api.hold('template');
  const hanging = Array.from({ length: HANGING }, () =>
    deployment.gateway.service.call(
      'POST',
      '/bonuses/template',
      { cid: 'alpha-key', templateId: template },
      { signWith: 'alpha-api-secret-that-is-long-enough' },
    ),
  );
  // Calls beyond the operator's share are refused at once and do not reach the service.
  await gate.arrivedTimes(32);
  for (let call = 0; call < BALANCES; call += 1) {
    expect((await deployment.gateway.service.balance(player)).status).toBe(200);
  }
  const bet = await placedBet(deployment.gateway);
  expect((await bet.settle('10')).status).toBe(200);
  expect(inFlight()).toBe(32);
  gate.release();
  const statuses = (await Promise.all(hanging)).map(({ status }) => status);
  expect(statuses.filter((status) => status === 503)).toHaveLength(HANGING - 32);
});
