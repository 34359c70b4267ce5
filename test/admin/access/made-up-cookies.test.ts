import { setImmediate as nextTurn } from 'node:timers/promises';
import Fastify from 'fastify';
import { pino } from 'pino';
import { expect, it, onTestFinished, vi } from 'vitest';
import { authenticator } from '../../../src/admin/access/authentication.ts';
import { type People, secretHash } from '../../../src/admin/access/people.ts';
import { signInRoutes } from '../../../src/admin/access/sign-in.ts';
import { systemClock } from '../../../src/domain/clock.ts';
import { StrangerLog } from '../../../src/lib/stranger-log.ts';

const silent = pino({ level: 'silent' });

const NOBODY: Omit<People, 'sessions'> = {
  ...{ adminToken: undefined, issuer: undefined, sessionMsMax: 0, consoleUrl: undefined },
  attempts: { take: () => 0 },
};

const unasked = () => Promise.reject(new Error('nobody may get this far'));

/** A listener that says who asks. Looking a cookie up takes until `answer`, except for the good one, once it is known. */
function listening() {
  const app = Fastify();
  onTestFinished(() => app.close());
  const { promise: answered, resolve: answer } = Promise.withResolvers<undefined>();
  const good = secretHash(cookieOf('good'));
  let looked = 0;
  let asked = 0;
  let held = Promise.resolve();
  const find = async (idHash: Buffer) => {
    if (idHash.equals(good)) {
      asked += 1;
      await held;
      return { actor: 'ann', role: 'viewer', by: 'link', expiresAt: new Date() } as const;
    }
    looked += 1;
    return await answered;
  };
  const sessions = { open: unasked, openByLink: unasked, makeLink: unasked, close: unasked, find };
  const authenticate = authenticator({ ...NOBODY, sessions }, silent, new StrangerLog(systemClock));
  app.get('/', authenticate);
  const ask = async (name: string, remoteAddress = '192.0.2.1') => {
    const headers = { cookie: `__Host-wagergate-session=${cookieOf(name)}` };
    return (await app.inject({ url: '/', headers, remoteAddress })).json().kind;
  };
  /** Has the good one wait too, until what it returns is called. */
  const hold = () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    held = promise;
    return resolve;
  };
  return { ask, answer, looked: () => looked, hold, asked: () => asked };
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

it('are signed out two at a time for each address, for the same reason (I7)', async () => {
  const app = Fastify();
  onTestFinished(() => app.close());
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  const close = vi.fn(async () => await closed);
  const sessions = { open: unasked, openByLink: unasked, makeLink: unasked, find: unasked, close };
  signInRoutes(app, { ...NOBODY, sessions }, silent);
  const signOut = (_: unknown, at: number) => {
    const cookie = `__Host-wagergate-session=${cookieOf(`made-up-${at}`)}`;
    const headers = { cookie, 'sec-fetch-site': 'same-origin' };
    return app.inject({ method: 'POST', url: '/console/sign-out', headers });
  };
  const flood = Array.from({ length: 50 }, signOut);
  await vi.waitFor(() => expect(close).toHaveBeenCalledTimes(2), 15_000);
  for (let turn = 0; turn < 20; turn += 1) await nextTurn();
  expect(close).toHaveBeenCalledTimes(2);
  resolve();
  const statuses = (await Promise.all(flood)).map(({ statusCode }) => statusCode);
  expect([new Set(statuses), close.mock.calls.length]).toEqual([new Set([204]), 50]);
});

it('are no better if they are good: one cookie is looked up eight times at once (I7)', async () => {
  const { ask, hold, asked } = listening();
  expect(await ask('good')).toBe('authenticated');
  const letGo = hold();
  const flood = Array.from({ length: 50 }, () => ask('good'));
  await vi.waitFor(() => expect(asked()).toBe(1 + 8), 15_000);
  for (let turn = 0; turn < 20; turn += 1) await nextTurn();
  expect(asked()).toBe(1 + 8);
  letGo();
  expect(new Set(await Promise.all(flood))).toEqual(new Set(['authenticated']));
  expect(asked()).toBe(1 + 50);
});
