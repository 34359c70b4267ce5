import { createServer, request } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';
import { listenOn } from '../../../tools/simulator/wallet/listener.ts';
import type { SimulatedWallet } from '../../../tools/simulator/wallet/wallet.ts';

/**
 * Puts a server in front of a wallet that closes each idle connection after this time.
 * @param saysSo with an answer that announces it
 * @returns the address to call instead of the wallet's, and how to have the next call close all other connections
 */
export async function closesIdle(
  { baseUrl }: SimulatedWallet,
  afterMs: number,
  saysSo: boolean,
): Promise<{ readonly baseUrl: string; readonly closeOthers: () => void }> {
  const wallet = new URL(baseUrl);
  const server = createServer((incoming, outgoing) => {
    const { method, headers, url: path } = incoming;
    const call = request({ port: wallet.port, method, headers, path }, (answer) => {
      void buffer(answer).then((body) => {
        // A header of one's own leaves out `Keep-Alive`, by which Node says when it closes.
        outgoing.setHeader('connection', saysSo ? 'close' : 'keep-alive');
        outgoing.writeHead(answer.statusCode ?? 0, { 'content-length': body.length }).end(body);
      });
    });
    incoming.pipe(call);
  });
  server.keepAliveTimeout = afterMs;
  // Node waits this much longer than it says.
  server.keepAliveTimeoutBuffer = 0;
  const port = await listenOn(server, 0);
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    baseUrl: `http://127.0.0.1:${port}${wallet.pathname}`,
    closeOthers: () => {
      server.once('request', () => server.closeIdleConnections());
    },
  };
}
