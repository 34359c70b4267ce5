import { once } from 'node:events';
import tls from 'node:tls';
import { expect, it, onTestFinished } from 'vitest';
import { connectRedis } from '../../src/redis/connect.ts';
import { portOf } from '../outbound/support/client.ts';
import { NAMED_SERVER } from '../wallets/support/private-authority.ts';

/** As `NODE_EXTRA_CA_CERTS` does it. */
function trustTheServer(): void {
  const before = tls.getCACertificates('default');
  tls.setDefaultCACertificates([...before, NAMED_SERVER.cert]);
  onTestFinished(() => tls.setDefaultCACertificates(before));
}

/** A node of a cluster. @returns its port, and what it is asked first by whoever believes its certificate */
async function startNode() {
  const { promise: asked, resolve } = Promise.withResolvers<string>();
  const server = tls.createServer(NAMED_SERVER, (socket) => {
    socket.on('error', () => undefined);
    socket.once('data', (bytes) => resolve(bytes.toString()));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => void server.close());
  return { port: portOf(server), asked };
}

it.each([
  ['the first', (here: string) => `rediss+cluster://:secret@${here}`],
  ['a further', (here: string) => `rediss+cluster://:secret@localhost:1?node=${here}`],
])('%s node of a cluster is believed by the name in the address', async (_, urlOf) => {
  trustTheServer();
  const node = await startNode();
  const redis = connectRedis(urlOf(`localhost:${node.port}`), {});
  redis.on('error', () => undefined);
  onTestFinished(() => redis.disconnect());
  expect(await node.asked).toMatch(/auth/i);
});
