import { connect, createServer, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import { listenOn } from '../../../tools/simulator/wallet/listener.ts';

/**
 * Puts a server in front of a wallet that serves this many connections at a time, as one with a process for each does:
 * further ones are taken only once another has been closed.
 * @returns the address to call instead of the wallet's
 */
export async function servesFew(
  { baseUrl }: { readonly baseUrl: string },
  connectionsMax: number,
): Promise<{ readonly baseUrl: string }> {
  const wallet = new URL(baseUrl);
  const open = new Set<Socket>();
  const waiting: Socket[] = [];
  const serve = (socket: Socket) => {
    const onward = connect(Number(wallet.port), wallet.hostname);
    open.add(socket);
    socket.on('error', () => onward.destroy());
    onward.on('error', () => socket.destroy());
    socket.on('close', () => {
      onward.destroy();
      open.delete(socket);
      const next = waiting.shift();
      if (next !== undefined) serve(next);
    });
    socket.pipe(onward).pipe(socket);
  };
  const server = createServer({ pauseOnConnect: true }, (socket) => {
    if (open.size < connectionsMax) serve(socket);
    else waiting.push(socket);
  });
  const port = await listenOn(server, 0);
  onTestFinished(() => {
    server.close();
    for (const socket of [...waiting.splice(0), ...open]) socket.destroy();
  });
  return { baseUrl: `http://127.0.0.1:${port}${wallet.pathname}` };
}
