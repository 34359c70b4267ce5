import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type BetSlip, placeBody } from '../../../src/protocol/callback-bodies.ts';
import { PlayerTakeover } from '../../../src/store/sessions/player-takeover.ts';
import { type CallResult, SignedClient } from '../../../tools/simulator/signed-client.ts';
import { listenOn, stopListening } from '../../../tools/simulator/wallet/listener.ts';
import type { SimulatedWallet } from '../../../tools/simulator/wallet/wallet.ts';
import type { TestGateway } from '../../support/gateway.ts';

/** A player that both gateways know under one `userId`. */
export interface MovingPlayer {
  readonly operatorId: string;
  readonly user: string;
  readonly userId: string;
}

interface OldSession {
  readonly player: MovingPlayer;
  readonly operatorToken: string;
}

/**
 * The gateway that the aggregator had before, as a wallet sees it: it translates ids and tokens, signs with the
 * wallet's secret, and remembers its own sessions and bets.
 */
export class OldGateway {
  readonly #gateway: TestGateway;
  readonly #clients = new Map<string, SignedClient>();
  readonly #sessions = new Map<string, OldSession>();
  readonly #players = new Map<string, MovingPlayer>();
  readonly #bets = new Map<string, OldSession>();
  #count = 0;

  constructor(gateway: TestGateway) {
    this.#gateway = gateway;
  }

  /** A player whose money is at the operator's wallet. */
  addPlayer(operatorId = 'alpha', balance = '1000'): MovingPlayer {
    this.#count += 1;
    const user = `from-before-${this.#count}`;
    const player = { operatorId, user, userId: `A-${100_000 + this.#count}` };
    this.#gateway.wallet(operatorId).addPlayer({ user, balances: { USD: balance } });
    this.learn(player);
    return player;
  }

  /** Takes over a player whom the other gateway has seen first. */
  learn(player: MovingPlayer): void {
    this.#players.set(player.userId, player);
  }

  userIdOf(user: string): string | undefined {
    return [...this.#players.values()].find((player) => player.user === user)?.userId;
  }

  /** The frame's token of a session that was opened at this gateway. */
  openSession(player: MovingPlayer): string {
    const operatorToken = walletToken(this.#gateway, player);
    const token = `of-the-old-gateway-${randomUUID().slice(0, 8)}`;
    this.#sessions.set(token, { player, operatorToken });
    return token;
  }

  /** Whether a callback belongs to it: to a session that it opened, or a bet that it placed. */
  knows(method: string, body: string): boolean {
    const { token, transactionId } = JSON.parse(body);
    return method === 'POST' ? this.#sessions.has(token) : this.#bets.has(transactionId);
  }

  /** Serves a callback of the service by calling the wallet. */
  async callback(method: 'POST' | 'PUT', path: string, body: string): Promise<CallResult> {
    const message = JSON.parse(body);
    const known = method === 'POST' ? this.#sessions.get(message.token) : undefined;
    const session = known ?? this.#bets.get(message.transactionId);
    if (session === undefined) throw new Error('no session or bet of the old gateway');
    if (method === 'POST' && path === '/payment/bet') {
      this.#bets.set(message.transactionId, session);
    }
    const { player, operatorToken } = session;
    const token = 'token' in message ? { token: operatorToken } : {};
    const userId = 'userId' in message ? { userId: player.user } : {};
    const theirs = { ...message, ...userId, ...token };
    const answer = await this.#clientOf(player.operatorId).call(method, path, theirs);
    return path === '/user/profile' ? withUserId(answer, player.userId) : answer;
  }

  /** Sends a message about any bet in the wallet's own ids. */
  async bringTo(operatorId: string, message: object): Promise<CallResult> {
    return await this.#clientOf(operatorId).call('PUT', '/payment/bet', message);
  }

  /** Enters a bet into the books of a wallet that has not seen its place. */
  async enterAt({ baseUrl }: SimulatedWallet, operatorId: string, theirs: BetSlip): Promise<void> {
    const client = new SignedClient({ baseUrl, secret: `${operatorId}-wallet-secret` });
    const { status, body } = await client.call('POST', '/payment/bet', placeBody(theirs));
    await client.close();
    if (status !== 200) throw new Error(`not entered: ${body}`);
  }

  async close(): Promise<void> {
    await Promise.all([...this.#clients.values()].map((client) => client.close()));
  }

  #clientOf(operatorId: string): SignedClient {
    const made = this.#clients.get(operatorId);
    if (made !== undefined) return made;
    const { baseUrl } = this.#gateway.wallet(operatorId);
    const client = new SignedClient({ baseUrl, secret: `${operatorId}-wallet-secret` });
    this.#clients.set(operatorId, client);
    return client;
  }
}

function withUserId(answer: CallResult, userId: string): CallResult {
  const json = { ...answer.json, userId };
  return { ...answer, json, body: JSON.stringify(json) };
}

/** A token of the player at the wallet. */
export function walletToken(gateway: TestGateway, { operatorId, user }: MovingPlayer): string {
  const token = `at-the-wallet-${randomUUID()}`;
  gateway.wallet(operatorId).issueToken(token, user, 'USD');
  return token;
}

/** As `wagergate players import` does. @returns the result for each */
export async function importPlayers(gateway: TestGateway, players: readonly MovingPlayer[]) {
  const takeover = await PlayerTakeover.open(gateway.databaseUrl, { dryRun: false });
  try {
    return await takeover.take(
      players.map(({ operatorId, user, userId }, at) => ({
        ...{ number: at + 2, operatorId, operatorUser: user, userId },
      })),
    );
  } finally {
    await takeover.close();
  }
}

/** Opens the player's frame through Wagergate. @throws Error if it is refused */
export async function openHere(gateway: TestGateway, player: MovingPlayer) {
  const operator = gateway.operator(player.operatorId);
  const operatorToken = walletToken(gateway, player);
  const { user: operatorUser } = player;
  const opened = await operator.openSession({ operatorUser, currency: 'USD', operatorToken });
  await operator.close();
  if (opened.session === undefined) throw new Error(`no session: ${opened.body}`);
  return { ...opened.session, operatorToken };
}

/**
 * The address that the service calls while both gateways are in use: callbacks of the old gateway go there,
 * everything else goes to Wagergate, byte for byte and with the service's signature.
 */
export async function startRouter(gateway: TestGateway, old: OldGateway) {
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks).toString();
    const { url = '/' } = request;
    const method = request.method === 'POST' ? 'POST' : 'PUT';
    const { status, text } = old.knows(method, body)
      ? await told(old.callback(method, url, body))
      : await passedOn(`${gateway.baseUrl}${url}`, method, body, request);
    response.writeHead(status, { 'content-type': 'application/json' }).end(text);
  };
  const server = createServer((request, response) => void answer(request, response));
  const port = await listenOn(server, 0);
  return {
    baseUrl: `http://127.0.0.1:${port}`,
    close: async () => {
      const stopped = stopListening(server);
      server.closeAllConnections();
      await stopped;
    },
  };
}

async function told(answering: Promise<CallResult>) {
  const { status, body: text } = await answering;
  return { status: status === 0 ? 502 : status, text };
}

async function passedOn(url: string, method: string, body: string, request: IncomingMessage) {
  const signature = String(request.headers['x-sign-jws']);
  const headers = { 'content-type': 'application/json', 'x-sign-jws': signature };
  const answer = await fetch(url, { method, body, headers });
  return { status: answer.status, text: await answer.text() };
}
