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

/** A node of a cluster, or a Sentinel. @returns its port, and what it hears first of who believes its certificate */
async function startServer() {
  const names: string[] = [];
  const { promise: asked, resolve } = Promise.withResolvers<string>();
  const SNICallback = (name: string, use: (error: null) => void) => {
    names.push(name);
    use(null);
  };
  const server = tls.createServer({ ...NAMED_SERVER, SNICallback }, (socket) => {
    socket.on('error', () => undefined);
    socket.once('data', (bytes) => resolve(bytes.toString()));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => void server.close());
  return { port: portOf(server), asked, names };
}

it.each([
  ['node of a cluster', 'rediss+cluster://:secret@HERE'],
  ['further node of a cluster', 'rediss+cluster://:secret@localhost:1?node=HERE'],
  ['Sentinel', 'rediss+sentinel://HERE/books?sentinelPassword=secret'],
  ['further Sentinel', 'rediss+sentinel://localhost:1/books?sentinel=HERE&sentinelPassword=secret'],
])('a %s is spoken to over TLS, and believed by the name in the address', async (_, url) => {
  trustTheServer();
  const server = await startServer();
  const redis = connectRedis(url.replace('HERE', `localhost:${server.port}`), {});
  redis.on('error', () => undefined);
  onTestFinished(() => redis.disconnect());
  expect(await server.asked).toMatch(/auth/i);
});

it('a Redis that shares its address with others is asked for by its name (SNI)', async () => {
  trustTheServer();
  const server = await startServer();
  const redis = connectRedis(`rediss://:secret@localhost:${server.port}`, {});
  redis.on('error', () => undefined);
  onTestFinished(() => redis.disconnect());
  expect(await server.asked).toMatch(/auth/i);
  expect(server.names).toEqual(['localhost']);
});
