import { setImmediate as nextTurn } from 'node:timers/promises';
import Fastify from 'fastify';
import { pino } from 'pino';
import { expect, it, onTestFinished, vi } from 'vitest';
import { authenticator } from '../../../src/admin/access/authentication.ts';
import { secretHash } from '../../../src/admin/access/people.ts';

const unasked = () => Promise.reject(new Error('nobody may get this far'));

/** A listener that says who asks. Looking a cookie up takes until `answer`, except for the good one, once it is known. */
function listening() {
  const app = Fastify();
  onTestFinished(() => app.close());
  const { promise: answered, resolve: answer } = Promise.withResolvers<undefined>();
  const good = secretHash(cookieOf('good'));
  let looked = 0;
  const find = async (idHash: Buffer) => {
    if (idHash.equals(good)) {
      return { actor: 'ann', role: 'viewer', by: 'link', expiresAt: new Date() } as const;
    }
    looked += 1;
    return await answered;
  };
  const sessions = { open: unasked, openByLink: unasked, makeLink: unasked, close: unasked, find };
  const authenticate = authenticator(
    {
      ...{ adminToken: undefined, issuer: undefined, sessions, sessionMsMax: 0 },
      ...{ attempts: { take: () => 0 }, consoleUrl: undefined },
    },
    pino({ level: 'silent' }),
  );
  app.get('/', authenticate);
  const ask = async (name: string, remoteAddress = '192.0.2.1') => {
    const headers = { cookie: `__Host-wagergate-session=${cookieOf(name)}` };
    return (await app.inject({ url: '/', headers, remoteAddress })).json().kind;
  };
  return { ask, answer, looked: () => looked };
}

function cookieOf(name: string): string {
  return name.padEnd(43, '-');
}

it('are looked up two at a time for each address: operators’ nonces wait for the same connections (I7)', async () => {
  const { ask, answer, looked } = listening();
  // Somebody who is signed in, at the same address: all may come through one proxy.
  expect(await ask('good')).toBe('authenticated');
  const flood = Array.from({ length: 50 }, (_, at) => ask(`made-up-${at}`));
  await vi.waitFor(() => expect(looked()).toBe(2), 15_000);
  for (let turn = 0; turn < 20; turn += 1) await nextTurn();
  expect(looked()).toBe(2);
  expect(await ask('good')).toBe('authenticated');
  const elsewhere = ask('made-up', '192.0.2.2');
  await vi.waitFor(() => expect(looked()).toBe(3), 15_000);
  answer(undefined);
  expect(new Set(await Promise.all([...flood, elsewhere]))).toEqual(new Set(['unauthenticated']));
  expect(looked()).toBe(51);
});
