import httpProxy from '@fastify/http-proxy';
import Fastify from 'fastify';

/**
 * Shows what an HTTP hop costs in Node without any of the gateway's work, in its own process. Argument: the address
 * to which it forwards. Prints its port.
 */

const [, , upstream = ''] = process.argv;
const app = Fastify({ logger: false });
await app.register(httpProxy, { upstream });
const address = new URL(await app.listen({ host: '127.0.0.1', port: 0 }));
console.log(JSON.stringify({ port: Number(address.port) }));
process.on('SIGTERM', () => {
  void app.close().then(() => process.exit(0));
});
