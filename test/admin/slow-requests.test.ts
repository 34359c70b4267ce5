import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { around } from '../books/reconciliation/support/lists.ts';
import { ADMIN_TOKEN } from './support/admin.ts';
import { startPeople, type TestPeople } from './support/people.ts';

let people: TestPeople;
beforeAll(async () => {
  people = await startPeople();
});
afterAll(() => people.close());

const LIST = `/admin/reconciliations?operator=alpha&from=${around(-1)}&to=${around(1)}`;

describe('a request to the internal listener that comes slowly', () => {
  const slow = async (path: string, authorization: string) => {
    const { port } = new URL(people.baseUrl);
    const socket = connect(Number(port), '127.0.0.1');
    await once(socket, 'connect');
    socket.on('error', () => undefined);
    socket.write(
      `POST ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: ${authorization}\r\n` +
        'content-length: 1000000\r\n\r\ntransactionId\n',
    );
    const begunAtMs = performance.now();
    const drip = setInterval(() => socket.writable && socket.write('x\n'), 200);
    const closed = new Promise<number>((resolve) =>
      socket.on('close', () => resolve(performance.now() - begunAtMs)),
    );
    const patience = new Promise<number>((resolve) =>
      setTimeout(resolve, 8_000, Number.POSITIVE_INFINITY),
    );
    const closedAfterMs = await Promise.race([closed, patience]);
    clearInterval(drip);
    socket.destroy();
    return closedAfterMs;
  };

  it('is cut off after 5 s, except for a list from somebody who may send one', async () => {
    const admin = `Bearer ${ADMIN_TOKEN}`;
    const [retry, stranger, list] = await Promise.all([
      slow('/admin/deliveries/retry', admin),
      slow(LIST, 'Bearer nobody'),
      slow(LIST, admin),
    ]);
    expect(retry).toBeLessThan(7_500);
    expect(stranger).toBeLessThan(7_500);
    expect(list).toBe(Number.POSITIVE_INFINITY);
  }, 20_000);
});
