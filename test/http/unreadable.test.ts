import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { placeBody } from '../../src/protocol/callback-bodies.ts';
import { sign, signingKeys } from '../../src/protocol/signature.ts';
import { unplacedBet } from '../support/bet.ts';
import { SERVICE_SECRET, startTestGateway, type TestGateway } from '../support/gateway.ts';
import { betState } from '../support/journal.ts';
import { PATIENT_MS } from '../support/timing.ts';

/** Bytes that are no HTTP request, or are too long for one. */
const unreadable: readonly [string, string, number][] = [
  ['garbage', '\0garbage\r\n\r\n', 400],
  ['a negative length', 'POST / HTTP/1.1\r\nhost: x\r\ncontent-length: -1\r\n\r\n', 400],
  ['an unknown method', 'PLACE /payment/bet HTTP/1.1\r\nhost: x\r\n\r\n', 400],
  ['too long a header', `POST / HTTP/1.1\r\nhost: x\r\na: ${'a'.repeat(20_000)}\r\n\r\n`, 431],
];

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(() => gateway.close());

async function open(port = Number(new URL(gateway.baseUrl).port)): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  socket.on('error', () => socket.destroy());
  await once(socket, 'connect');
  return socket;
}

/** Everything that comes until the gateway closes the connection. */
async function untilClosed(socket: Socket): Promise<string> {
  let text = '';
  socket.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
  });
  await once(socket, 'close');
  return text;
}

function signedPlace(body: string): string {
  const [key] = signingKeys([SERVICE_SECRET]);
  if (key === undefined) throw new Error('a secret makes a key');
  const head = `POST /payment/bet HTTP/1.1\r\nhost: x\r\nx-sign-jws: ${sign(body, key)}`;
  return `${head}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
}

/** A place whose wallet does not answer yet, and its connection. */
async function placeOnItsWay() {
  const bet = await unplacedBet(gateway);
  const gate = bet.wallet.hold('place', { transactionId: bet.transactionId });
  onTestFinished(gate.release);
  const socket = await open();
  const said = untilClosed(socket);
  socket.write(signedPlace(placeBody(bet.slip)));
  await gate.arrived;
  return { bet, gate, socket, said };
}

it.each(unreadable)('answers %s in the protocol’s form, and closes', async (_, bytes, status) => {
  const socket = await open();
  const said = untilClosed(socket);
  socket.write(bytes);
  const [head = '', body = ''] = (await said).split('\r\n\r\n');
  expect(head).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
  expect(head).toMatch(/content-type: application\/json/i);
  expect(head).toContain(`content-length: ${Buffer.byteLength(body)}`);
  expect(JSON.parse(body)).toEqual({ code: 5, message: expect.any(String) });
});

describe('a request without a Host header', () => {
  const hostless = (version: string) =>
    `POST /payment/bet HTTP/${version}\r\ncontent-length: 2\r\n\r\n{}`;
  const refusal = expect.stringMatching(
    /^HTTP\/1\.1 400 .*"code":5,"message":"The request has no Host header"\}$/s,
  );

  it('is refused with a code, and its connection closed', async () => {
    const socket = await open();
    const said = untilClosed(socket);
    socket.write(hostless('1.1'));
    expect(await said).toEqual(refusal);
  });
});

it.each(unreadable)(
  'does not answer a place that is on its way with what is wrong with %s behind it (I2)',
  async (_, bytes) => {
    const { bet, gate, socket, said } = await placeOnItsWay();
    socket.write(bytes);
    // 400 would say that the bet was declined; no answer says that the outcome is unknown.
    expect(await said).toBe('');
    gate.release();
    await vi.waitFor(async () => {
      const state = await betState(gateway.databaseUrl, bet.transactionId);
      expect(state?.place).toBe('accepted');
    }, PATIENT_MS);
  },
);
