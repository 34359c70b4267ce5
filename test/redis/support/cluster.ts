import { createHash } from 'node:crypto';
import { Redis } from 'ioredis';
import { expect, vi } from 'vitest';
import { freePort, startRedisProcess } from './redis-process.ts';

const PATIENT = { timeout: 30_000, interval: 100 };
const PASSWORD = createHash('sha256').update('cluster').digest('hex');
const SLOTS = 16_384;

export interface Node {
  readonly port: number;
  readonly client: Redis;
  /** Freezes the server: it keeps its connections and does not answer. @returns thaws it */
  freeze(): Promise<() => void>;
  stop(): Promise<void>;
}

/** A Redis Cluster of masters without replicas. */
export interface RedisCluster {
  readonly nodes: readonly Node[];
  /** The node that stores a key. */
  nodeOf(key: string): Promise<Node>;
  /** For `REDIS_URL`. */
  readonly url: string;
  close(): Promise<void>;
}

export async function startRedisCluster(size: number): Promise<RedisCluster> {
  const nodes = await Promise.all(Array.from({ length: size }, () => startNode()));
  await joined(nodes);
  const [first, ...others] = nodes.map(({ port }) => `127.0.0.1:${port}`);
  const further = others.map((other) => `node=${other}`).join('&');
  return {
    nodes,
    nodeOf: async (key) => {
      const slot = await nodes[0]?.client.cluster('KEYSLOT', key);
      const node = nodes[Math.floor(Number(slot) / Math.ceil(SLOTS / size))];
      if (node === undefined) throw new Error(`no node has ${key}`);
      return node;
    },
    url: `redis+cluster://:${PASSWORD}@${first}?${further}`,
    close: async () => {
      await Promise.all(nodes.map((node) => node.stop()));
    },
  };
}

async function startNode(): Promise<Node> {
  const [port, busPort] = await Promise.all([freePort(), freePort()]);
  const server = await startRedisProcess([
    `port ${port}`,
    `cluster-port ${busPort}`,
    'cluster-enabled yes',
    'cluster-node-timeout 2000',
    'save ""',
    `requirepass ${PASSWORD}`,
    'maxmemory-policy noeviction',
  ]);
  const client = new Redis({ host: '127.0.0.1', port, password: PASSWORD });
  client.on('error', () => undefined);
  await vi.waitFor(() => client.ping(), PATIENT);
  let stopping: Promise<void> | undefined;
  const stop = async () => {
    client.disconnect();
    await server.stop();
  };
  return {
    port,
    client,
    freeze: async () => {
      const info = await client.info('server');
      const pid = Number(/process_id:(\d+)/.exec(info)?.[1]);
      process.kill(pid, 'SIGSTOP');
      return () => void process.kill(pid, 'SIGCONT');
    },
    stop: () => {
      stopping ??= stop();
      return stopping;
    },
  };
}

/** Assigns each node its share of the slots, and waits until all know each other. */
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

/** Read from `<id> <ip>:<port>@<bus port>… myself …`. */
async function busPortOf({ client }: Node): Promise<number> {
  const known = String(await client.call('CLUSTER', 'NODES'));
  return Number(/@(\d+)/.exec(known)?.[1]);
}
