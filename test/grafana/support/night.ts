import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DIFFERENCE_KINDS } from '../../../src/domain/reconciliation.ts';
import { startBonusApi } from '../../../tools/simulator/bonus-api/bonus-api.ts';
import { createOperator } from '../../../tools/simulator/operator.ts';
import { createService } from '../../../tools/simulator/service.ts';
import { templateBody } from '../../bonuses/support/bonus-gateway.ts';
import { placedBet, unplacedBet } from '../../support/bet.ts';
import { insertDelivery } from '../../support/deliveries.ts';
import { SERVICE_SECRET, startTestGateway, type TestGateway } from '../../support/gateway.ts';
import { onServer } from '../../support/server.ts';

export interface Night {
  readonly gateway: TestGateway;
  /** `host:port` of the internal listener. */
  readonly target: string;
  /** Everything that goes wrong once, or has a lasting effect. */
  incidents(): Promise<void>;
  /** A little of everything that happens all the time. */
  traffic(): Promise<void>;
  close(): Promise<void>;
}

/** A bad night: alpha's wallet works, beta's fails at every call, gamma's decides slowly and has no balances. */
export async function startNight(): Promise<Night> {
  const bonusApi = await startBonusApi({
    partners: [{ cid: 'aggregator-key', secrets: [SERVICE_SECRET] }],
  });
  const gateway = await startTestGateway({
    worker: true,
    gateway: {
      deadline: { totalMs: 3_000, reserveMs: 500 },
      service: { bonusApiUrl: bonusApi.url },
    },
    operators: {
      alpha: {},
      // Its breaker opens soon and is not tried again before the test ends.
      beta: { wallet: { breaker: { minRequests: 8, openMs: 300_000 } } },
      gamma: { wallet: { breaker: { minRequests: 1_000 } } },
      // A person holds its deliveries.
      delta: {},
    },
  });
  gateway.metrics.collectProcessMetrics();
  gateway.wallet('beta').misbehave('any', { kind: 'status', status: 500 });
  gateway.wallet('gamma').misbehave('balance', { kind: 'status', status: 500 });
  const { app, readiness } = gateway.parts.adminServer();
  readiness.started();
  const bookkeeper = gateway.parts.bookkeeper();
  bookkeeper.start();
  const address = new URL(await app.listen({ host: '127.0.0.1', port: 0 }));
  const players = {
    alpha: await gateway.player({ operatorId: 'alpha' }),
    beta: await gateway.player({ operatorId: 'beta' }),
    gamma: await gateway.player({ operatorId: 'gamma' }),
  };

  /** A bet with all operations, each sent twice. */
  const wellLived = async () => {
    const bet = await placedBet(gateway, { player: players.alpha, amount: '1' });
    await bet.place();
    await bet.update('1.5');
    await bet.settle('2');
    await bet.settle('2');
    await bet.unsettle();
    await bet.rollback();
    await gateway.service.profile(players.alpha.token);
    await gateway.service.balance(players.alpha);
  };
  const declined = async () => {
    await (await unplacedBet(gateway, { player: players.alpha, amount: '99999999' })).place();
  };
  /** The service rolls back what it could not place; the rollback waits until beta returns. */
  const failed = async () => {
    const bet = await unplacedBet(gateway, { operatorId: 'beta', player: players.beta });
    await bet.place();
    await bet.rollback();
  };
  /** A rollback that the wallet fails at first is delivered a moment later. */
  const takenOver = async () => {
    const bet = await placedBet(gateway, { player: players.alpha, amount: '1' });
    bet.wallet.misbehave('rollback', { kind: 'status', status: 502 }, { calls: 1 });
    await bet.rollback();
  };
  const alpha = gateway.operator('alpha');
  const wrong = { baseUrl: gateway.baseUrl, secret: 'not-the-secret' };
  const wrongService = createService({ ...wrong, retryScale: 0 });
  const wrongAlpha = createOperator({ ...wrong, cid: 'alpha-key' });
  /** More than one in twenty callbacks, so that it cannot be strangers. */
  const signedWrongly = async () => {
    for (let count = 0; count < 3; count++) {
      await wrongService.call('POST', '/user/balance', '{}');
    }
    await wrongAlpha.bet('any');
  };
  const bonuses = async () => {
    await alpha.bonuses('player/bonuses', { userId: players.alpha.user });
    await alpha.bonuses('templates');
    await alpha.bonuses('template', { templateId: 424_242 });
  };

  return {
    gateway,
    target: address.host,
    traffic: async () => {
      await Promise.all([
        wellLived(),
        declined(),
        failed(),
        takenOver(),
        bonuses(),
        signedWrongly(),
        gateway.service.balance(players.gamma),
      ]);
    },
    incidents: async () => {
      await leaveUnresolved(gateway, players.gamma);
      const { transactionId: forgotten } = await placedBet(gateway, { player: players.alpha });
      await contradict(gateway, players.alpha);
      await breakConfiguration(gateway);
      // A create whose outcome stays unknown, because the service does not list what exists.
      bonusApi.misbehave('templates/add', { kind: 'reset' }, { calls: 1 });
      await alpha.bonuses('templates/add', templateBody());
      bonusApi.misbehave('templates', { kind: 'status', status: 500 });
      bonusApi.misbehave('player/bonuses', { kind: 'status', status: 500 });
      await onServer(gateway.databaseUrl, async (client) => {
        // An hour old and not due for another hour: nobody delivers it, and the breaker is closed.
        await insertDelivery(client, { operator: 'gamma', operation: 'rollback' });
        await insertDelivery(client, { operator: 'gamma', operation: 'settle' });
        await insertDelivery(client, { operator: 'gamma', operation: 'rollback', state: 'dead' });
        await insertDelivery(client, { operator: 'alpha', operation: 'settle', state: 'dead' });
        await client.query(
          `UPDATE bets SET settlement = 'unknown', late_at = now() - interval '2 hours'
                             WHERE transaction_id = $1`,
          [forgotten],
        );
        await client.query(
          `INSERT INTO operator_holds (operator_id, counted_at, hold_since, hold_actor)
           VALUES ('delta', now(), now(), 'ann')`,
        );
        await client.query(
          `WITH open AS (SELECT jsonb_object_agg(kind, 1) AS counts
                           FROM unnest($1::text[]) AS k(kind))
           INSERT INTO reconciliations (operator_id, from_day, to_day, time_zone, actor, state, counts,
                                        open, new_count)
           SELECT 'alpha', now(), now(), 'UTC', 'ann', 'done', counts || '{"agree": 7}', counts, 7
             FROM open`,
          [DIFFERENCE_KINDS],
        );
      });
    },
    close: async () => {
      await app.close();
      await bookkeeper.close();
      await Promise.all([alpha.close(), wrongAlpha.close(), wrongService.close()]);
      await gateway.close();
      await bonusApi.close();
    },
  };
}

type Player = Awaited<ReturnType<TestGateway['player']>>;

/** Places whose outcome nobody knows and that the service does not roll back. */
async function leaveUnresolved(gateway: TestGateway, player: Player): Promise<void> {
  const remove = gateway.wallet('gamma').misbehave('place', { kind: 'reset' });
  for (let count = 0; count < 12; count++) {
    await (await unplacedBet(gateway, { operatorId: 'gamma', player, amount: '1' })).place();
  }
  remove();
}

async function contradict(gateway: TestGateway, player: Player): Promise<void> {
  const bet = await placedBet(gateway, { player, amount: '10' });
  await bet.place({ amount: '11' });
}

async function breakConfiguration(gateway: TestGateway): Promise<void> {
  await gateway.reload();
  await writeFile(join(gateway.configFolder, 'operators', 'alpha.yaml'), 'id: beta\n');
  await gateway.reload().then(
    () => Promise.reject(new Error('an invalid file was taken')),
    () => undefined,
  );
}
