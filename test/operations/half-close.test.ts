import { once } from 'node:events';
import type { Socket } from 'node:net';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { placeBody } from '../../src/protocol/callback-bodies.ts';
import { type TestBet, unplacedBet } from '../support/bet.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { callbackBytes, rawConnection } from '../support/raw-callback.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(() => gateway.close());

const requestOf = ({ slip }: TestBet) => callbackBytes('POST', '/payment/bet', placeBody(slip));

async function connected(): Promise<Socket> {
  const socket = await rawConnection(gateway.baseUrl);
  onTestFinished(() => void socket.destroy());
  return socket;
}

async function readToEnd(socket: Socket): Promise<string> {
  let text = '';
  for await (const piece of socket) text += piece;
  return text;
}

it('a place whose caller ends its side after the body is answered like any other', async () => {
  const bet = await unplacedBet(gateway);
  const socket = await connected();
  socket.end(requestOf(bet));
  expect(await readToEnd(socket)).toMatch(/^HTTP\/1\.1 200 /);
  expect(bet.arrivals()).toEqual(['place']);
});

it('a place whose caller ends its side while the wallet works is answered too', async () => {
  const bet = await unplacedBet(gateway);
  const gate = gateway.wallet('alpha').hold('place');
  onTestFinished(gate.release);
  const socket = await connected();
  const answer = readToEnd(socket);
  socket.write(requestOf(bet));
  await gate.arrivedTimes(1);
  socket.end();
  await once(socket, 'finish');
  // Another callback: by then the gateway has read the end.
  await gateway.service.balance(bet.player);
  gate.release();
  expect(await answer).toMatch(/^HTTP\/1\.1 200 /);
});

it('a place is not sent if the connection ends before the body is complete', async () => {
  const bet = await unplacedBet(gateway);
  const socket = await connected();
  socket.end(requestOf(bet).slice(0, -1));
  expect(await readToEnd(socket)).not.toMatch(/^HTTP\/1\.1 200 /);
  expect(bet.arrivals()).toEqual([]);
});
