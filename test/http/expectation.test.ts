import { once } from 'node:events';
import { connect } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { placeBody } from '../../src/protocol/callback-bodies.ts';
import { sign, signingKeys } from '../../src/protocol/signature.ts';
import { unplacedBet } from '../support/bet.ts';
import { SERVICE_SECRET, startTestGateway } from '../support/gateway.ts';

const TOTAL_MS = 1_000;

/** The connection of a proxy, which carries the requests of many senders, and the answers on it. */
async function connectionTo(port: number) {
  const socket = connect(port, '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  await once(socket, 'connect');
  return async (bytes: string) => {
    const answered = once(socket, 'data');
    socket.write(bytes);
    return String((await answered)[0]);
  };
}

it('a request that expects what nobody knows is answered in the protocol’s form, and costs the next one of its connection no time (I1, I7)', async () => {
  const gateway = await startTestGateway({ gateway: { deadline: { totalMs: TOTAL_MS } } });
  onTestFinished(() => gateway.close());
  const send = await connectionTo(Number(new URL(gateway.baseUrl).port));
  const stranger = 'host: x\r\nexpect: something\r\ncontent-length: 2\r\n\r\n{}';
  expect(await send(`POST /payment/bet HTTP/1.1\r\n${stranger}`)).toMatch(
    /^HTTP\/1\.1 400 .*"code":1,/s,
  );

  // As long as a callback may take passes before the service's own request.
  const slow = await unplacedBet(gateway);
  slow.wallet.misbehave('place', { kind: 'hang' }, { transactionId: slow.transactionId });
  await slow.place();
  const bet = await unplacedBet(gateway);
  const body = placeBody(bet.slip);
  const [key] = signingKeys([SERVICE_SECRET]);
  if (key === undefined) throw new Error('a secret makes a key');
  const head = `host: x\r\nx-sign-jws: ${sign(body, key)}\r\ncontent-length: ${Buffer.byteLength(body)}`;
  expect(await send(`POST /payment/bet HTTP/1.1\r\n${head}\r\n\r\n${body}`)).toMatch(
    /^HTTP\/1\.1 200 /,
  );
});

it('so it is on the internal port', async () => {
  const gateway = await startTestGateway();
  onTestFinished(() => gateway.close());
  const { app } = gateway.parts.adminServer();
  onTestFinished(() => app.close());
  const { port } = new URL(await app.listen({ host: '127.0.0.1', port: 0 }));
  const send = await connectionTo(Number(port));
  expect(await send('GET /health/live HTTP/1.1\r\nhost: x\r\nexpect: something\r\n\r\n')).toMatch(
    /^HTTP\/1\.1 200 /,
  );
});
