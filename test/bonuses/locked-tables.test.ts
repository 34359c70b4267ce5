import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { unplacedBet } from '../support/bet.ts';
import { connect } from '../support/server.ts';
import { type BonusGateway, batchBody, startBonusGateway } from './support/bonus-gateway.ts';

/** More than any pool has connections. */
const CALLS = 30;
const AT_ONCE_MS = 2_000;

type Ask = (deployment: BonusGateway, template: number, call: number) => Promise<unknown>;
const batch: Ask = ({ alpha }, template, call) =>
  alpha.call('/bonuses/bonus/applyBatch', batchBody(template, [`player-${call}`]));
const withNonce: Ask = ({ alpha }) =>
  alpha.call('/operator/bets', {
    transactionId: randomUUID(),
    path: '/operator/bets',
    at: new Date().toISOString(),
    nonce: randomUUID(),
  });

it.each([
  ['bonus_intents', batch],
  ['operator_nonces', withNonce],
])(
  'while somebody keeps %s locked, one operator’s calls wait for it, and no callback with them (I7)',
  async (table, ask) => {
    const deployment = await startBonusGateway();
    onTestFinished(() => deployment.close());
    const { gateway } = deployment;
    const { app } = gateway.parts.adminServer();
    onTestFinished(() => app.close());
    const template = await deployment.template(deployment.alpha);
    // Its token is unknown here, so its owner is looked up in PostgreSQL.
    const bet = await unplacedBet(gateway, { operatorId: 'beta' });
    const somebody = await connect(gateway.databaseUrl);
    onTestFinished(() => somebody.end());
    await somebody.query(`BEGIN; LOCK TABLE ${table} IN ACCESS EXCLUSIVE MODE`);
    const waiting = async () =>
      (await deployment.sql("SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'"))
        .length;

    const asked = Array.from({ length: CALLS }, (_, call) => ask(deployment, template, call));
    await expect.poll(waiting).toBeGreaterThan(1);
    expect((await bet.place()).status).toBe(200);
    const ready = await app.inject({ url: '/health/ready', headers: { host: 'localhost' } });
    expect(ready.json()).toMatchObject({ dependencies: { postgresql: 'up' } });

    await somebody.query('ROLLBACK');
    await Promise.all(asked);
  },
);

it('while somebody keeps the bonuses locked, one operator’s calls wait for it, and no session of another (I7)', async () => {
  const deployment = await startBonusGateway({ beta: { api: { freshness: 'required' } } });
  onTestFinished(() => deployment.close());
  const template = await deployment.template(deployment.alpha);
  const somebody = await connect(deployment.gateway.databaseUrl);
  onTestFinished(() => somebody.end());
  await somebody.query('BEGIN; LOCK TABLE bonus_intents IN ACCESS EXCLUSIVE MODE');
  const asked = Array.from({ length: CALLS }, (_, call) => batch(deployment, template, call));
  const waiting = async () =>
    (await deployment.sql("SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'")).length;
  await expect.poll(waiting).toBeGreaterThan(1);

  const path = '/operator/sessions/revoke';
  const fresh = { path, at: new Date().toISOString(), nonce: randomUUID() };
  const revoked = deployment.beta.call(path, { operatorUser: 'ann', ...fresh });
  const first = await Promise.race([revoked, sleep(AT_ONCE_MS, undefined, { ref: false })]);
  await somebody.query('ROLLBACK');
  await Promise.all(asked);
  expect(first?.status).toBe(200);
});
