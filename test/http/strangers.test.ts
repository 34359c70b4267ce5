import { connect, type Socket } from 'node:net';
import { afterEach, expect, it, vi } from 'vitest';
import { balanceBody } from '../../src/protocol/callback-bodies.ts';
import { sign, signingKeys } from '../../src/protocol/signature.ts';
import { startTestGateway, type TestGateway, type TestGatewayOptions } from '../support/gateway.ts';
import { callbackBytes } from '../support/raw-callback.ts';

/** What anybody may cost a gateway before a signature is verified (I7, I11). */

vi.setConfig({ testTimeout: 60_000 });
const PATIENT = { timeout: 20_000 };
const [SERVICE, STRANGER, OTHER] = ['127.0.0.1', '127.0.0.2', '127.0.0.3'] as const;
const LONG = 250_000;

let gateway: TestGateway;
const opened: Socket[] = [];
afterEach(async () => {
  for (const socket of opened.splice(0)) socket.destroy();
  await gateway.close();
});

async function start(options: TestGatewayOptions = {}): Promise<void> {
  gateway = await startTestGateway(options);
}

/** A connection from an address that sends this text and nothing more. */
async function connected(localAddress: string, says = ''): Promise<Socket> {
  const port = Number(new URL(gateway.baseUrl).port);
  const socket = connect({ port, host: '127.0.0.1', localAddress });
  opened.push(socket);
  socket.on('error', () => socket.destroy()).setEncoding('utf8');
  await new Promise<void>((resolve) => socket.once('connect', () => resolve()));
  socket.write(says);
  return socket;
}

/** The first thing that is answered, or nothing if the connection is closed. */
function answerOn(socket: Socket): Promise<string> {
  return new Promise((resolve) => {
    socket.once('data', resolve).once('close', () => resolve(''));
  });
}

const ask = async (from: string, request: string) => answerOn(await connected(from, request));
const isClosed = (socket: Socket) => socket.destroyed || socket.readableEnded;

function unsigned(bytes = 2): string {
  const head = `POST /payment/bet HTTP/1.1\r\nhost: x\r\ncontent-length: ${bytes}\r\n\r\n`;
  return head + 'x'.repeat(bytes);
}

async function balance(): Promise<string> {
  const player = await gateway.player();
  return callbackBytes('POST', '/user/balance', balanceBody(player));
}

function betsOf(operatorId: string): string {
  const [key] = signingKeys([`${operatorId}-api-secret-that-is-long-enough`]);
  if (key === undefined) throw new Error('a secret makes a key');
  const body = JSON.stringify({ cid: `${operatorId}-key`, transactionId: 'none' });
  return `POST /operator/bets HTTP/1.1\r\nhost: x\r\ncontent-length: ${body.length}\r\nx-sign-jws: ${sign(body, key)}\r\n\r\n${body}`;
}

it('lets the service in where strangers hold all connections', async () => {
  await start({ gateway: { http: { maxConnections: 10 } } });
  const request = await balance();
  const silent = await Promise.all(Array.from({ length: 30 }, () => connected(STRANGER)));
  await expect.poll(() => silent.filter(isClosed).length, PATIENT).toBeGreaterThan(15);
  const service = await connected(SERVICE, request);
  expect(await answerOn(service)).toMatch(/^HTTP\/1.1 200 /);
  const more = await Promise.all(Array.from({ length: 30 }, () => connected(OTHER)));
  await expect
    .poll(() => [...silent, ...more].filter(isClosed).length, PATIENT)
    .toBeGreaterThan(45);
  service.write(request);
  expect(await answerOn(service)).toMatch(/^HTTP\/1.1 200 /);
});

it('closes connections of the operator that holds the most, and of no other (I7)', async () => {
  await start({
    gateway: { http: { maxConnections: 10 } },
    operators: { alpha: {}, beta: {} },
  });
  const beta = await connected(OTHER, betsOf('beta'));
  expect(await answerOn(beta)).toMatch(/^HTTP\/1.1 404 /);
  const alphas: Socket[] = [];
  for (let count = 0; count < 20; count += 1) {
    const alpha = await connected(STRANGER, betsOf('alpha'));
    alphas.push(alpha);
    await answerOn(alpha);
  }
  await expect.poll(() => alphas.filter(isClosed).length, PATIENT).toBeGreaterThan(8);
  expect(await ask(SERVICE, await balance())).toMatch(/^HTTP\/1.1 200 /);
  expect(isClosed(beta)).toBe(false);
});

it('ends a connection that says nothing, or half a head, by Node’s own limits', async () => {
  await start({ gateway: { deadline: { totalMs: 900, reserveMs: 100 } } });
  const slow = [await connected(STRANGER), await connected(STRANGER, unsigned().slice(0, 30))];
  for (const socket of slow) socket.resume();
  await expect.poll(() => slow.map(isClosed), PATIENT).toEqual([true, true]);
});

it('reads long unsigned bodies of an address at a pace, and those of others (I7)', async () => {
  await start();
  const answers: string[] = [];
  while (answers.at(-1) !== '' && answers.length < 1_000) {
    answers.push(...(await Promise.all([1, 2, 3, 4, 5].map(() => ask(STRANGER, unsigned(LONG))))));
  }
  expect(answers.filter((answer) => answer.startsWith('HTTP/1.1 400')).length).toBeGreaterThan(60);
  expect(await ask(OTHER, unsigned(LONG))).toMatch(/^HTTP\/1.1 400 /);
  expect(await ask(SERVICE, await balance())).toMatch(/^HTTP\/1.1 200 /);
});

it('answers an address only some of its unsigned requests, however it sends them', async () => {
  await start();
  const pipelined = await connected(STRANGER);
  let answered = 0;
  pipelined.on('data', (text: string) => {
    answered += text.split('HTTP/1.1 400').length - 1;
  });
  pipelined.write(unsigned().repeat(20_000));
  await expect.poll(() => isClosed(pipelined), PATIENT).toBe(true);
  expect(answered).toBeLessThan(10_000);
});

it('cuts off a body in tiny pieces', async () => {
  await start();
  const head = 'POST /payment/bet HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n';
  const crumbs = await connected(STRANGER, head + '1\r\nx\r\n'.repeat(100_000));
  await expect.poll(() => isClosed(crumbs), PATIENT).toBe(true);
});

it('does not limit an address that the service has called from, which may be its proxy’s', async () => {
  await start();
  expect(await ask(SERVICE, await balance())).toMatch(/^HTTP\/1.1 200 /);
  for (let count = 0; count < 80; count += 1) {
    expect(await ask(SERVICE, unsigned(LONG))).toMatch(/^HTTP\/1.1 400 /);
  }
});

it('limits by the caller’s address behind a trusted proxy, and not by the proxy’s (I7)', async () => {
  await start({ gateway: { service: { trustProxy: [`${OTHER}/32`] } } });
  const request = await balance();
  const by = (caller: string, text: string) =>
    text.replace('host: x', `host: x\r\nx-forwarded-for: ${caller}`);
  let last = 'HTTP';
  for (let count = 0; count < 1_000 && last !== ''; count += 1) {
    last = await ask(OTHER, by('192.0.2.1', unsigned(LONG)));
  }
  expect(last).toBe('');
  expect(await ask(OTHER, by('192.0.2.2', request))).toMatch(/^HTTP\/1.1 200 /);
});
