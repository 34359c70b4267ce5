import { connect, type Socket } from 'node:net';
import { request } from 'undici';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { systemClock } from '../../src/domain/clock.ts';
import { sign, signingKeys } from '../../src/protocol/signature.ts';
import { SERVICE_SECRET, startTestGateway, type TestGateway } from '../support/gateway.ts';

/** How much of a gateway strangers may occupy: a place only while nobody else needs it (I7). */

let gateway: TestGateway;
const opened: Socket[] = [];
/** Under load it may take a while; it only has to happen. */
vi.setConfig({ testTimeout: 30_000 });
const PATIENT = 10_000;
afterEach(async () => {
  for (const socket of opened.splice(0)) socket.destroy();
  await gateway.close();
});

const start = async (http: object) => {
  gateway = await startTestGateway({ gateway: { http } });
};

/** A connection that sends this text and nothing more. */
async function stranger(says = '', localAddress = '127.0.0.1'): Promise<Socket> {
  const port = Number(new URL(gateway.baseUrl).port);
  const socket = connect({ port, host: '127.0.0.1', localAddress });
  opened.push(socket);
  socket.on('error', () => socket.destroy());
  socket.resume();
  await new Promise<void>((resolve) => socket.once('connect', () => resolve()));
  socket.write(says);
  return socket;
}

const strangers = (count: number, says?: string) =>
  Promise.all(Array.from({ length: count }, () => stranger(says)));
const isClosed = (socket: Socket) => socket.destroyed || socket.readableEnded;
const closedOf = (reason: string) => gateway.metric('gateway_connections_closed_total', { reason });

function head(bytes: number): string {
  return `POST /payment/bet HTTP/1.1\r\nhost: x\r\ncontent-length: ${bytes}\r\nx-sign-jws: a..b\r\n\r\n`;
}

describe('http.maxConnections', () => {
  it('closes the stranger that was silent longest, and lets the service in', async () => {
    await start({ maxConnections: 10 });
    const player = await gateway.player();
    const before = await closedOf('full');
    const silent = await strangers(30);
    await vi.waitFor(
      async () => expect((await closedOf('full')) - before).toBeGreaterThan(15),
      PATIENT,
    );
    await vi.waitFor(() => expect(silent.filter(isClosed).length).toBeGreaterThan(15), PATIENT);
    expect((await gateway.service.balance(player)).status).toBe(200);
    expect((await gateway.service.profile(player.token)).status).toBe(200);
  });

  it('never closes a connection that a signed request came on', async () => {
    await start({ maxConnections: 5 });
    const player = await gateway.player();
    expect((await gateway.service.balance(player)).status).toBe(200);
    const connections = () =>
      new Promise<number>((resolve) => {
        gateway.app.server.getConnections((_error, count) => resolve(count));
      });
    for (let round = 0; round < 5; round += 1) {
      await strangers(5);
      const answer = await gateway.service.balance(player);
      expect([answer.status, answer.failure]).toEqual([200, undefined]);
    }
    await vi.waitFor(async () => expect(await connections()).toBeLessThanOrEqual(5), PATIENT);
  });
});

describe('one operator’s connections', () => {
  const askBet = (id: string) => {
    const body = JSON.stringify({ cid: `${id}-key`, transactionId: 'none' });
    return signedRequest('/operator/bets', body, `${id}-api-secret-that-is-long-enough`);
  };

  it('give way where they hold the most: the service and other operators come in (I7)', async () => {
    const http = { maxConnections: 10 };
    gateway = await startTestGateway({ gateway: { http }, operators: { alpha: {}, beta: {} } });
    const player = await gateway.player();
    const beta = await stranger(askBet('beta'));
    const answered = vi.fn();
    beta.on('data', (bytes) => answered(String(bytes)));
    const known = expect.stringMatching(/^HTTP\/1.1 404 /);
    await vi.waitFor(() => expect(answered).toHaveBeenCalledWith(known), PATIENT);
    for (let count = 0; count < 30; count += 1) {
      const alpha = await stranger();
      await new Promise<void>((resolve) => {
        alpha.once('data', () => resolve()).once('close', () => resolve());
        alpha.write(askBet('alpha'));
      });
    }
    const { body, jws } = signedBalance(player);
    for (let count = 0; count < 3; count += 1) {
      const answer = await request(`${gateway.baseUrl}/user/balance`, {
        method: 'POST',
        headers: { 'x-sign-jws': jws },
        body,
        reset: true,
      });
      expect(answer.statusCode).toBe(200);
      await answer.body.dump();
    }
    expect(isClosed(beta)).toBe(false);
  });

  it('may send long bodies at a rate of their own', async () => {
    await start({ arrivingBytesMax: 1_048_576 });
    const broken = Array.from({ length: 12 }, async () => {
      const socket = await stranger();
      await new Promise((resolve) => {
        socket.once('data', resolve);
        socket.write(askBet('alpha'));
      });
      // Never complete, and then reset: the bytes so far become garbage.
      socket.write(`${head(250_000)}${'x'.repeat(1_000)}`);
    });
    await Promise.all(broken);
    await vi.waitFor(async () => expect(await closedOf('memory')).toBeGreaterThan(4), PATIENT);
  });
});

describe('http.strangerIdleMs', () => {
  it('ends connections that nothing signed has come on, and no other', async () => {
    await start({ strangerIdleMs: 300 });
    const player = await gateway.player();
    const [silent, trickling, refused] = [
      await stranger(),
      await stranger('POST /payment/bet HTTP/1.1\r\nhost: x\r\n'),
      await stranger(`${head(2)}{}`),
    ];
    const [trusted] = await strangers(1);
    const { body } = signedBalance(player);
    trusted?.write(signedRequest('/user/balance', body, SERVICE_SECRET));
    await vi.waitFor(() => {
      expect([silent, trickling, refused].map((socket) => isClosed(socket))).toEqual([
        true,
        true,
        true,
      ]);
    }, PATIENT);
    expect(await closedOf('idle')).toBeGreaterThanOrEqual(3);
    expect(trusted && isClosed(trusted)).toBe(false);
  });

  it('does not end a connection whose next request has begun, while its body is still coming (I7)', async () => {
    let aheadMs = 0;
    const clock = { ...systemClock, monotonicMs: () => systemClock.monotonicMs() + aheadMs };
    gateway = await startTestGateway({ clock, gateway: { http: { strangerIdleMs: 3_000 } } });
    const { body } = signedBalance(await gateway.player());
    const heads = vi.fn();
    gateway.app.server.on('request', heads);
    // Nothing signed has come on either: during a rotation, say, the service's own signature was refused.
    const [late, silent] = [await stranger(`${head(2)}{}`), await stranger()];
    await vi.waitFor(() => expect(heads).toHaveBeenCalledTimes(1), PATIENT);
    const request = signedRequest('/user/balance', body, SERVICE_SECRET);
    const headEnd = request.indexOf('{');
    aheadMs = 2_000;
    late.write(request.slice(0, headEnd));
    await vi.waitFor(() => expect(heads).toHaveBeenCalledTimes(2), PATIENT);
    aheadMs = 3_200;
    await vi.waitFor(() => expect(isClosed(silent)).toBe(true), PATIENT);
    const said = vi.fn();
    late.on('data', (bytes) => said(String(bytes)));
    late.write(request.slice(headEnd));
    const ok = expect.stringMatching(/^HTTP\/1.1 200 /);
    await vi.waitFor(() => expect(said).toHaveBeenCalledWith(ok), PATIENT);
  });

  it('ends none of a proxy in front, which may send the service’s next request there (I7)', async () => {
    const [proxys, other] = ['127.0.0.2', '127.0.0.3'];
    gateway = await startTestGateway({
      gateway: {
        http: { strangerIdleMs: 300 },
        service: { trustProxy: [`${proxys}/32`] },
      },
    });
    const { body } = signedBalance(await gateway.player());
    const shared = await stranger(`${head(2)}{}`, proxys);
    const unknown = await stranger(`${head(2)}{}`, other);
    await vi.waitFor(() => expect(isClosed(unknown)).toBe(true), PATIENT);
    expect(isClosed(shared)).toBe(false);
    const said = new Promise<string>((resolve) => {
      shared.once('data', (bytes) => resolve(String(bytes))).once('close', () => resolve('closed'));
    });
    shared.write(signedRequest('/user/balance', body, SERVICE_SECRET));
    expect(await said).toMatch(/^HTTP\/1.1 200 /);
  });
});

function signedBalance(player: { userId: string; token: string; currency: string }) {
  const { userId, token, currency } = player;
  const body = JSON.stringify({ userId, token, currency, requestId: 'request-0001' });
  return { body, jws: signed(body, SERVICE_SECRET) };
}

function signed(body: string, secret: string): string {
  const [key] = signingKeys([secret]);
  if (key === undefined) throw new Error('no key');
  return sign(body, key);
}

function signedRequest(path: string, body: string, secret: string): string {
  return `POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-length: ${body.length}\r\nx-sign-jws: ${signed(body, secret)}\r\n\r\n${body}`;
}

describe('http.arrivingBytesMax', () => {
  it('breaks the oldest bodies off that do not come to their end, and answers the service', async () => {
    await start({ arrivingBytesMax: 1_048_576 });
    const player = await gateway.player();
    const stalled = await strangers(20, `${head(250_000)}${'x'.repeat(200_000)}`);
    await vi.waitFor(
      async () => expect(await closedOf('memory')).toBeGreaterThanOrEqual(15),
      PATIENT,
    );
    await vi.waitFor(
      () => expect(stalled.filter(isClosed).length).toBeGreaterThanOrEqual(15),
      PATIENT,
    );
    expect((await gateway.service.balance(player)).status).toBe(200);
  });

  it('releases the bytes of a whole or broken body: nobody is cut off for finished requests', async () => {
    await start({ arrivingBytesMax: 1_048_576 });
    const player = await gateway.player();
    // Short ones, which are not throttled.
    for (let round = 0; round < 80; round += 1) {
      const [broken] = await strangers(1, `${head(16_000)}${'x'.repeat(15_000)}`);
      const whole = await gateway.service.call('POST', '/payment/bet', 'x'.repeat(200_000));
      expect(whole.status).toBe(400);
      broken?.destroy();
    }
    expect((await gateway.service.balance(player)).status).toBe(200);
    expect(await closedOf('memory')).toBe(0);
  });

  it('reads long bodies of strangers only at a pace, and short ones always (I7)', async () => {
    await start({ arrivingBytesMax: 1_048_576 });
    const player = await gateway.player();
    // Four fill the budget, whatever happens to them; each second another one returns.
    const sent = 30;
    const startedAtMs = performance.now();
    const answers = await Promise.allSettled(
      Array.from({ length: sent }, () => unsigned('x'.repeat(250_000))),
    );
    const seconds = (performance.now() - startedAtMs) / 1_000;
    const read = answers.filter(({ status }) => status === 'fulfilled').length;
    expect(read).toBeGreaterThanOrEqual(4);
    expect(read).toBeLessThanOrEqual(5 + Math.ceil(seconds * 1.05));
    expect(await closedOf('memory')).toBe(sent - read);
    expect((await unsigned('x'.repeat(16_000))).status).toBe(400);
    expect((await gateway.service.balance(player)).status).toBe(200);
  });

  it('takes every long body on a connection that has proved itself', async () => {
    await start({ arrivingBytesMax: 1_048_576 });
    const player = await gateway.player();
    expect((await gateway.service.balance(player)).status).toBe(200);
    for (let round = 0; round < 10; round += 1) {
      const { status, failure } = await gateway.service.call(
        'POST',
        '/payment/bet',
        'x'.repeat(250_000),
      );
      expect([status, failure]).toEqual([400, undefined]);
    }
    expect(await closedOf('memory')).toBe(0);
  });
});

/** A request on its own connection, without a signature. */
function unsigned(body: string) {
  return request(`${gateway.baseUrl}/payment/bet`, {
    method: 'POST',
    headers: { 'x-sign-jws': 'a..b', connection: 'close' },
    body,
    reset: true,
  }).then(async (answer) => {
    await answer.body.dump();
    return { status: answer.statusCode };
  });
}
