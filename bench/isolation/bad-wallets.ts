import { createServer, type ServerResponse } from 'node:http';

/**
 * Wallets that are bad neighbours, in their own process: `/hang` never answers, `/endless` sends only informational
 * answers, `/slow` confirms everything after 50 ms. Prints its port.
 */

const SLOW_MS = 50;
const INFORMATIONAL_EVERY_MS = 5;
const TRANSACTION = /"transactionId":"([^"\\]+)"/;

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const [, kind] = (request.url ?? '').split('/');
    if (kind === 'endless') return informForEver(response);
    if (kind === 'slow') {
      const body = Buffer.concat(chunks).toString('latin1');
      setTimeout(() => confirm(response, TRANSACTION.exec(body)?.[1] ?? ''), SLOW_MS);
    }
  });
});
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('not a TCP server');
  console.log(JSON.stringify({ port: address.port }));
});

function confirm(response: ServerResponse, transactionId: string): void {
  const transactionTime = new Date().toISOString();
  response
    .writeHead(200, { 'content-type': 'application/json' })
    .end(JSON.stringify({ transactionId, transactionTime }));
}

function informForEver(response: ServerResponse): void {
  const timer = setInterval(() => response.writeProcessing(), INFORMATIONAL_EVERY_MS);
  response.on('close', () => clearInterval(timer));
}
