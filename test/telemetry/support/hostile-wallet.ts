import { createServer, type IncomingMessage } from 'node:http';
import { listenOn, stopListening } from '../../../tools/simulator/wallet/listener.ts';

/** Data that only the player and the operator may know. */
export const PERSONAL = {
  firstName: 'Zacharias-Personal',
  email: 'zacharias@personal.example',
  phone: '+357-personal-99',
} as const;

/** How the wallet answers a call. */
export type Behaviour = 'profile' | 'broken' | 'failed' | 'refused';

export interface HostileWallet {
  readonly baseUrl: string;
  behave(behaviour: Behaviour): void;
  close(): Promise<void>;
}

/** A wallet whose answers, good and bad, say more than they should about its players. */
export async function startHostileWallet(userId: string): Promise<HostileWallet> {
  let behaviour: Behaviour = 'profile';
  const answers: Readonly<Record<Behaviour, () => readonly [number, string]>> = {
    profile: () => [200, JSON.stringify({ userId, currency: 'USD', ...PERSONAL })],
    broken: () => [200, `{"userId":"${userId}",,"email":"${PERSONAL.email}"`],
    failed: () => [500, `<h1>${PERSONAL.email} not found for ${userId}</h1>`],
    refused: () => [400, JSON.stringify({ code: 5, message: `${PERSONAL.email} may not` })],
  };
  const server = createServer((request: IncomingMessage, response) => {
    request.resume().on('end', () => {
      const [status, body] = answers[behaviour]();
      response.writeHead(status, { 'content-type': 'application/json' }).end(body);
    });
  });
  const port = await listenOn(server, 0);
  return {
    baseUrl: `http://127.0.0.1:${port}/sportsbook`,
    behave: (next) => {
      behaviour = next;
    },
    close: async () => {
      server.closeAllConnections();
      await stopListening(server);
    },
  };
}
