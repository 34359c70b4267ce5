import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { systemClock } from '../../src/domain/clock.ts';
import { Accelerator } from '../../src/redis/accelerator.ts';
import { redisProgram } from '../../tools/embedded/redis-program.ts';
import { Supervisor } from '../../tools/embedded/supervised.ts';
import { listenOn, stopListening } from '../../tools/simulator/wallet/listener.ts';
import { untilDeliveries } from '../deliveries/support/deliveries.ts';
import { placedBet } from '../support/bet.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';

const PATIENT = { timeout: 30_000, interval: 100 };
const PASSWORD = createHash('sha256').update('cluster').digest('hex');
const SLOTS = 16_384;
const NODES = 3;

interface Node {
  readonly port: number;
  readonly client: Redis;
  stop(): Promise<void>;
}

describe('Redis Cluster', { timeout: 90_000 }, () => {
  let nodes: readonly Node[];
  let gateway: TestGateway;
  beforeAll(async () => {
    nodes = await Promise.all(Array.from({ length: NODES }, () => startNode()));
    await joined(nodes);
    const [first, ...others] = nodes.map(({ port }) => `127.0.0.1:${port}`);
    const further = others.map((other) => `node=${other}`).join('&');
    gateway = await startTestGateway({
      worker: true,
      gateway: { delivery: { minBackoffMs: 50, maxBackoffMs: 200 } },
      operators: { alpha: { wallet: { breaker: { minRequests: 100_000 } } } },
      through: async ({ databaseUrl }) => ({
        databaseUrl,
        redisUrl: `redis+cluster://:${PASSWORD}@${first}?${further}`,
      }),
    });
  });
  afterAll(async () => {
    await gateway.close();
    await Promise.all(nodes.map((node) => node.stop()));
  });

  const keys = async () => {
    const found = await Promise.all(nodes.map(({ client }) => client.keys('*')));
    return found.map((ofNode) => ofNode.length);
  };

  it('holds answers and sessions on all its nodes', async () => {
    for (let bet = 0; bet < 30; bet += 1) await placedBet(gateway);
    // A node that was slow to connect is not asked for a while, and later bets reach it.
    await vi.waitFor(async () => {
      await placedBet(gateway);
      expect(Math.min(...(await keys()))).toBeGreaterThan(0);
    }, PATIENT);
  });

  it('wakes the deliveries (I4)', async () => {
    const before = await gateway.metric('gateway_drains_total', { by: 'scheduler' });
    const bet = await placedBet(gateway);
    bet.wallet.misbehave('rollback', { kind: 'status', status: 500 }, { calls: 2 });
    await bet.rollback();
    await untilDeliveries(bet, [{ state: 'delivered' }]);
    const after = await gateway.metric('gateway_drains_total', { by: 'scheduler' });
    expect(after).toBeGreaterThan(before);
  });

  it('says so each time one of its nodes has been away: fences may be lost there (I6)', async () => {
    const logger = pino({ level: 'silent' });
    const options = { url: gateway.redisUrl, prefix: 'test:', clock: systemClock, logger };
    const redis = new Accelerator(options);
    onTestFinished(() => redis.close());
    await redis.connected(10_000);
    const run = await redis.serverRun();
    expect(run?.split(',')).toHaveLength(NODES);
    const returned = vi.fn();
    redis.onReturn(returned);
    // Of every node, so that each is connected to.
    await vi.waitFor(async () => {
      for (let key = 0; key < 30; key += 1) {
        expect(await redis.set(`key-${key}`, 'value', 60_000)).toBe(true);
      }
    }, PATIENT);
    for (const { client } of nodes) {
      const before = returned.mock.calls.length;
      await client.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
      await vi.waitUntil(() => returned.mock.calls.length > before, PATIENT);
    }
  });

  it('may lose a node, and nothing of a promise is lost (I4)', async () => {
    await nodes[0]?.stop();
    const bet = await placedBet(gateway);
    bet.wallet.misbehave('rollback', { kind: 'status', status: 500 }, { calls: 2 });
    expect((await bet.rollback()).status).toBe(200);
    await untilDeliveries(bet, [{ state: 'delivered' }], 30_000);
    expect(bet.balance()).toBe('1000');
  });
});

async function startNode(): Promise<Node> {
  const [port, busPort] = await Promise.all([freePort(), freePort()]);
  const folder = await mkdtemp(join(tmpdir(), 'wagergate-cluster-'));
  const file = join(folder, 'redis.conf');
  const lines = [
    'bind 127.0.0.1',
    `port ${port}`,
    `cluster-port ${busPort}`,
    'cluster-enabled yes',
    'cluster-node-timeout 2000',
    `dir ${folder}`,
    'save ""',
    `requirepass ${PASSWORD}`,
    'maxmemory-policy noeviction',
  ];
  await writeFile(file, `${lines.join('\n')}\n`);
  const supervisor = new Supervisor({});
  supervisor.stdout?.resume();
  supervisor.stderr?.resume();
  const program = await redisProgram(() => undefined);
  await supervisor.run({
    file: program.file,
    args: [...program.args, file],
    stopSignal: 'SIGKILL',
  });
  const client = new Redis({ host: '127.0.0.1', port, password: PASSWORD });
  client.on('error', () => undefined);
  await vi.waitFor(() => client.ping(), PATIENT);
  let stopping: Promise<void> | undefined;
  const stop = async () => {
    client.disconnect();
    await supervisor.close();
    await rm(folder, { recursive: true, force: true });
  };
  return {
    port,
    client,
    stop: () => {
      stopping ??= stop();
      return stopping;
    },
  };
}

/** Gives each node its share of the slots, and waits until all know of each other. */
async function joined(nodes: readonly Node[]): Promise<void> {
  const share = Math.ceil(SLOTS / nodes.length);
  const [first] = nodes;
  if (first === undefined) throw new Error('no node');
  const busPort = await busPortOf(first);
  for (const [index, { client }] of nodes.entries()) {
    const last = Math.min(SLOTS, (index + 1) * share) - 1;
    await client.call('CLUSTER', 'ADDSLOTSRANGE', index * share, last);
    if (index > 0) await client.call('CLUSTER', 'MEET', '127.0.0.1', first.port, busPort);
  }
  for (const { client } of nodes) {
    await vi.waitFor(async () => {
      const info = String(await client.call('CLUSTER', 'INFO'));
      expect(info).toContain('cluster_state:ok');
      expect(info).toContain(`cluster_known_nodes:${nodes.length}`);
    }, PATIENT);
  }
}

/** Of `<id> <ip>:<port>@<bus port>… myself …`. */
async function busPortOf({ client }: Node): Promise<number> {
  const known = String(await client.call('CLUSTER', 'NODES'));
  return Number(/@(\d+)/.exec(known)?.[1]);
}

async function freePort(): Promise<number> {
  const probe = createServer();
  const port = await listenOn(probe, 0);
  await stopListening(probe);
  return port;
}
