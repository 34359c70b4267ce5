import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';
import { listenOn } from '../../../tools/simulator/wallet/listener.ts';
import type { SimulatedWallet } from '../../../tools/simulator/wallet/wallet.ts';

/**
 * Puts something in front of a wallet that sends each refusal twice, as a filter does that refuses and lets the
 * request go on.
 * @returns the address to call instead of the wallet's
 */
export async function refusesTwice({ baseUrl }: SimulatedWallet): Promise<string> {
  const wallet = new URL(baseUrl);
  const server = createServer((incoming, outgoing) => {
    const { method, headers, url: path } = incoming;
    const call = request({ port: wallet.port, method, headers, path }, (answer) => {
      void forward(answer, outgoing);
    });
    incoming.pipe(call);
  });
  const port = await listenOn(server, 0);
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${port}${wallet.pathname}`;
}

async function forward(answer: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  const { statusCode: status = 0 } = answer;
  const body = await buffer(answer);
  const { socket } = outgoing;
  outgoing.writeHead(status, { 'content-length': body.length }).end(body, () => {
    if (status !== 400) return;
    socket?.write(`HTTP/1.1 400 Bad Request\r\ncontent-length: ${body.length}\r\n\r\n${body}`);
  });
}
