import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';

/**
 * A wallet that accepts everything, in its own process, so that it costs every measured side the same. Argument:
 * how many milliseconds it takes for an answer, by default none. Prints its port; `GET /seen?<prefix>` lists the
 * bets with that prefix and how often each came, one per line.
 */

const PLACED = /"transactionId":"([^"\\]+)"/;
/**
 * Whether it is the gateway's own rollback of a place whose caller had gone; it comes after minutes. One that the
 * service has sent has another errorCode or none.
 */
const isOwnRollback = (body: string) =>
  /"type":3[,}]/.test(body) && /"errorCode":10[,}]/.test(body);
const BALANCE = '{"userId":"player","currency":"USD","amount":100.25}';

const delayMs = Number(process.argv[2] ?? 0);
const seen = new Map<string, number>();

const server = createServer((request, response) => {
  if (request.method === 'GET') {
    const prefix = (request.url ?? '').split('?')[1] ?? '';
    const lines = [...seen].filter(([id]) => id.startsWith(prefix));
    return response.end(lines.map(([id, count]) => `${id} ${count}`).join('\n'));
  }
  read(request, (body) => {
    if (request.url === '/user/balance') return answer(response, BALANCE);
    const transactionId = PLACED.exec(body)?.[1];
    if (transactionId === undefined) return response.writeHead(500).end();
    if (!isOwnRollback(body)) seen.set(transactionId, (seen.get(transactionId) ?? 0) + 1);
    const transactionTime = new Date().toISOString();
    answer(response, `{"transactionId":"${transactionId}","transactionTime":"${transactionTime}"}`);
  });
});
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('not a TCP server');
  console.log(JSON.stringify({ port: address.port }));
});

/** @param text ASCII */
function answer(response: ServerResponse, text: string): void {
  const write = () =>
    response
      .writeHead(200, { 'content-type': 'application/json', 'content-length': text.length })
      .end(text);
  if (delayMs === 0) write();
  else setTimeout(write, delayMs);
}

/** As latin1, which is fast: only ASCII is searched for. */
function read(request: IncomingMessage, done: (body: string) => void): void {
  let body = '';
  request.setEncoding('latin1');
  request.on('data', (chunk: string) => {
    body += chunk;
  });
  request.on('end', () => done(body));
}
