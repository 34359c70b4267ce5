import { createServer, type ServerResponse } from 'node:http';

/**
 * Wallets that are bad neighbours, in their own process: `/hang` never answers, `/endless` sends only informational
 * answers. Prints its port.
 */

const INFORMATIONAL_EVERY_MS = 5;

const server = createServer((request, response) => {
  request.resume();
  request.on('end', () => {
    const [, kind] = (request.url ?? '').split('/');
    if (kind === 'endless') informForEver(response);
  });
});
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('not a TCP server');
  console.log(JSON.stringify({ port: address.port }));
});

function informForEver(response: ServerResponse): void {
  const timer = setInterval(() => response.writeProcessing(), INFORMATIONAL_EVERY_MS);
  response.on('close', () => clearInterval(timer));
}
