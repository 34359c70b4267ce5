import { randomUUID } from 'node:crypto';
import { expect, it, onTestFinished } from 'vitest';
import { unplacedBet } from '../support/bet.ts';
import { connect } from '../support/server.ts';
import { type BonusGateway, batchBody, startBonusGateway } from './support/bonus-gateway.ts';

/** More than any pool has connections. */
const CALLS = 30;

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
    // Its token was never seen: who it belongs to is asked of PostgreSQL.
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
