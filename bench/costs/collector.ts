import { createServer } from 'node:http';

/**
 * Receives traces as OTLP/HTTP in its own process. Prints its port; `GET /` returns how many messages with traces
 * came.
 */
let messages = 0;
const server = createServer((request, response) => {
  if (request.method === 'GET') return response.end(String(messages));
  messages += 1;
  request.resume().on('end', () => {
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
  });
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('not a TCP server');
  console.log(JSON.stringify({ port: address.port }));
});
