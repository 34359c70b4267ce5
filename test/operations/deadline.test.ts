import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { balanceBody, placeBody, profileBody } from '../../src/protocol/callback-bodies.ts';
import { sign, signingKeys } from '../../src/protocol/signature.ts';
import type { CallResult } from '../../tools/simulator/signed-client.ts';
import type { Misbehaviour } from '../../tools/simulator/wallet/misbehaviour.ts';
import { type TestBet, unplacedBet } from '../support/bet.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { betState } from '../support/journal.ts';

const TOTAL_MS = 4_000;
/** A busy machine writes what became of a wallet's silence in this time. */
const RESERVE_MS = 1_500;

let gateway: TestGateway;
beforeAll(async () => {
  const patient = { wallet: { breaker: { minRequests: 100_000 } } };
  gateway = await startTestGateway({
    gateway: { deadline: { totalMs: TOTAL_MS, reserveMs: RESERVE_MS } },
    operators: { alpha: patient, beta: patient },
  });
});
afterEach(() => {
  gateway.wallet('alpha').behave();
});
afterAll(async () => {
  await gateway.close();
});

type Ask = (bet: TestBet) => Promise<CallResult>;
const balance: Ask = ({ player }) =>
  gateway.service.call('POST', '/user/balance', balanceBody(player));
const profile: Ask = ({ player }) =>
  gateway.service.call('POST', '/user/profile', profileBody(player.token));

/** The answer to each callback when its wallet fails. */
const callbacks: [string, Ask, number][] = [
  ['profile', profile, 503],
  ['balance', balance, 503],
  ['place', (bet) => bet.place(), 400],
  ['settle', (bet) => bet.settle('25'), 503],
  ['unsettle', (bet) => bet.unsettle(), 503],
  ['update', (bet) => bet.update('1.7'), 200],
  ['rollback', (bet) => bet.rollback(), 200],
];

const slow: [string, Misbehaviour][] = [
  ['hangs', { kind: 'hang' }],
  ['trickles a body without end', { kind: 'trickle', part: 'body', intervalMs: 300 }],
];
const broken: [string, Misbehaviour][] = [
  ['resets', { kind: 'reset' }],
  ['sends 200 MB', { kind: 'huge' }],
  ['answers 500', { kind: 'status', status: 500 }],
];

/** With so short a deadline a busy machine may need more than one try, which is not what is tested. */
async function placedInTime(): Promise<TestBet> {
  for (;;) {
    const bet = await unplacedBet(gateway);
    if ((await bet.place()).status === 200) return bet;
  }
}

describe.each([...slow, ...broken])('when the wallet %s', (_, misbehaviour) => {
  it('every callback is answered in time, so that the service repeats it or rolls back (I1)', async () => {
    const answers = await Promise.all(
      callbacks.map(async ([operation, ask, status]) => {
        const bet =
          operation === 'place' || operation === 'profile' || operation === 'balance'
            ? await unplacedBet(gateway)
            : await placedInTime();
        return { operation, status, bet, ask };
      }),
    );
    gateway.wallet('alpha').misbehave('any', misbehaviour);
    await Promise.all(
      answers.map(async ({ operation, status, bet, ask }) => {
        const answer = await ask(bet);
        expect([operation, answer.status]).toEqual([operation, status]);
        if (status !== 200) expect(answer.json?.code).toBe(100);
      }),
    );
  });
});

describe('while a wallet hangs with everything', () => {
  it('another operator’s callbacks do not wait for it (I7)', async () => {
    const bets = await Promise.all(Array.from({ length: 10 }, () => unplacedBet(gateway)));
    const well = await unplacedBet(gateway, { operatorId: 'beta' });
    const gate = gateway.wallet('alpha').hold('any');
    onTestFinished(gate.release);
    const stuck = bets.flatMap((bet) => [bet.place(), balance(bet)]);
    await gate.arrivedTimes(stuck.length);
    const answers = await Promise.all([well.place(), balance(well), profile(well)]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    // Still hanging: no call above can have waited for one of these.
    expect(gate.held).toBe(stuck.length);
    gate.release();
    await Promise.all(stuck);
  });
});

describe('a request that comes slowly', () => {
  function signed(body: string): string {
    const [key] = signingKeys(['the-services-secret']);
    if (key === undefined) throw new Error('a secret makes a key');
    return sign(body, key);
  }

  const headOf = (body: string) =>
    `POST /payment/bet HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n` +
    `content-length: ${Buffer.byteLength(body)}\r\nx-sign-jws: ${signed(body)}\r\n\r\n`;

  async function connected(at: TestGateway = gateway): Promise<Socket> {
    const socket = connect(Number(new URL(at.baseUrl).port), '127.0.0.1');
    await once(socket, 'connect');
    return socket.on('error', () => socket.destroy());
  }

  async function open(body: string, at?: TestGateway): Promise<Socket> {
    const socket = await connected(at);
    socket.write(headOf(body));
    return socket;
  }

  async function answerOn(socket: Socket): Promise<string> {
    const [chunk]: unknown[] = await once(socket, 'data');
    socket.destroy();
    return String(chunk);
  }

  /** Waits for a call of another bet that takes a known time. */
  async function wait(ms: number): Promise<void> {
    const other = await unplacedBet(gateway);
    const { transactionId } = other;
    other.wallet.misbehave('place', { kind: 'delay', ms }, { transactionId });
    await other.place();
  }

  const budgetOf = (bet: TestBet) => Number(bet.lastRequest().headers['x-deadline-ms']);

  it('spends its own time: what is left is the wallet’s (I1)', async () => {
    const bet = await unplacedBet(gateway);
    const body = placeBody(bet.slip);
    const socket = await open(body);
    const answering = answerOn(socket);
    await wait(300);
    socket.write(body);
    expect(await answering).toMatch(/^HTTP\/1\.1 200 /);
    expect(budgetOf(bet)).toBeLessThanOrEqual(TOTAL_MS - RESERVE_MS - 300);
  });

  it('is not waited for beyond the deadline, and nothing is sent (I1)', async () => {
    const bet = await unplacedBet(gateway);
    const socket = await open(placeBody(bet.slip));
    socket.write('{"token":');
    expect(await answerOn(socket)).toMatch(/^HTTP\/1\.1 408 /);
    expect(await betState(gateway.databaseUrl, bet.transactionId)).toBeUndefined();
    expect(bet.arrivals()).toEqual([]);
  });
});

describe('the wallet', () => {
  it.each(['place', 'settle', 'rollback', 'balance', 'profile'])(
    'is told how long it has: never what the gateway needs itself (%s)',
    async (operation) => {
      const bet = await placedInTime();
      const asks: Record<string, Ask> = { profile, balance };
      const again = await unplacedBet(gateway, { player: bet.player });
      if (operation === 'place') await again.place();
      else if (operation === 'settle') await bet.settle('1');
      else if (operation === 'rollback') await bet.rollback();
      else await asks[operation]?.(bet);
      const budgetMs = Number(bet.wallet.requests.at(-1)?.headers['x-deadline-ms']);
      expect(budgetMs).toBeGreaterThan(0);
      expect(budgetMs).toBeLessThanOrEqual(TOTAL_MS - RESERVE_MS);
    },
  );
});

it('gives every callback its own time, however many come at once (I1)', async () => {
  const bets = await Promise.all(Array.from({ length: 20 }, () => unplacedBet(gateway)));
  const ids = new Set(bets.map(({ transactionId }) => transactionId));
  const hanging = [...ids].filter((_, index) => index % 2 === 0);
  for (const transactionId of hanging) {
    gateway.wallet('alpha').misbehave('place', { kind: 'hang' }, { transactionId });
  }
  const answers = await Promise.all(
    bets.map((bet) => bet.place({ requestId: `"${randomUUID()}"` })),
  );
  for (const [index, answer] of answers.entries()) {
    expect(answer.status).toBe(index % 2 === 0 ? 400 : 200);
  }
});
