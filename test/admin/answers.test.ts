import { setImmediate as nextTurn } from 'node:timers/promises';
import Fastify from 'fastify';
import { expect, it, onTestFinished, vi } from 'vitest';
import { json, sendPieces, serve } from '../../src/admin/answers.ts';
import { booksRoutes } from '../../src/admin/books.ts';

/** A listener that believes whoever names itself, with a route whose answers are not ready before `ready`. */
function listening(method: 'GET' | 'POST') {
  const app = Fastify();
  onTestFinished(() => app.close());
  app.decorateRequest('caller', undefined);
  app.addHook('onRequest', async (request) => {
    const actor = String(request.headers.actor);
    request.caller = { actor, role: 'viewer', address: request.ip };
  });
  const { promise: ready, resolve } = Promise.withResolvers<void>();
  let begun = 0;
  serve(app, method, '/long', 'read', async () => {
    begun += 1;
    await ready;
    return json({});
  });
  const ask = (actor: string, remoteAddress = '192.0.2.1') =>
    app.inject({ method, url: '/long', headers: { actor }, remoteAddress });
  return { ask, finish: resolve, begun: () => begun };
}

const unasked = () => {
  throw new Error('nobody may ask for this');
};

it('makes eight answers for one caller at a time: hundreds at once would keep callbacks waiting (I7)', async () => {
  const { ask, finish, begun } = listening('GET');
  const flood = Array.from({ length: 300 }, () => ask('viewer@x.example'));
  await vi.waitFor(() => expect(begun()).toBe(8));
  for (let turn = 0; turn < 20; turn += 1) await nextTurn();
  expect(begun()).toBe(8);
  // Neither somebody else nor the same person elsewhere waits for them.
  const others = [ask('admin@x.example'), ask('viewer@x.example', '192.0.2.2')];
  await vi.waitFor(() => expect(begun()).toBe(10));
  finish();
  const answers = await Promise.all([...flood, ...others]);
  expect(new Set(answers.map(({ statusCode }) => statusCode))).toEqual(new Set([200]));
});

it('makes pieces of eight long answers for one caller at a time, however many are being read (I7)', async () => {
  const app = Fastify();
  onTestFinished(() => app.close());
  app.decorateRequest('caller', undefined);
  let making = 0;
  let most = 0;
  app.get('/export', (request, reply) => {
    request.caller = { actor: 'viewer@x.example', role: 'viewer', address: request.ip };
    return sendPieces(request, reply, async function* () {
      for (let page = 0; page < 3; page += 1) {
        making += 1;
        most = Math.max(most, making);
        await nextTurn();
        making -= 1;
        yield 'x';
      }
    });
  });
  const exports = await Promise.all(Array.from({ length: 50 }, () => app.inject('/export')));
  expect(new Set(exports.map(({ body }) => body))).toEqual(new Set(['xxx']));
  expect(most).toBe(8);
});

it('reads statements of days for one caller eight at a time, among its other answers (I7)', async () => {
  const app = Fastify();
  onTestFinished(() => app.close());
  app.decorateRequest('caller', undefined);
  app.addHook('onRequest', async (request) => {
    const actor = String(request.headers.actor);
    request.caller = { actor, role: 'viewer', address: request.ip };
  });
  const { promise: found, resolve: find } = Promise.withResolvers<undefined>();
  let begun = 0;
  const statements = {
    find: async () => {
      begun += 1;
      return await found;
    },
    pages: unasked,
  };
  booksRoutes(app, { booksDays: { list: unasked }, statements });
  const ask = (actor: string, accept: string) =>
    app.inject({ url: '/books/statements/alpha/2026-11-20', headers: { actor, accept } });
  const flood = Array.from({ length: 50 }, (_, at) =>
    ask('viewer@x.example', at % 2 === 0 ? 'text/csv' : 'application/json'),
  );
  await vi.waitFor(() => expect(begun).toBe(8));
  for (let turn = 0; turn < 20; turn += 1) await nextTurn();
  expect(begun).toBe(8);
  const other = ask('admin@x.example', 'application/json');
  await vi.waitFor(() => expect(begun).toBe(9));
  find(undefined);
  const statuses = (await Promise.all([...flood, other])).map(({ statusCode }) => statusCode);
  expect([new Set(statuses), begun]).toEqual([new Set([404]), 51]);
});

it('lets no change wait for another', async () => {
  const { ask, finish, begun } = listening('POST');
  const changes = Array.from({ length: 20 }, () => ask('token'));
  await vi.waitFor(() => expect(begun()).toBe(20));
  finish();
  await Promise.all(changes);
});

it('reads nothing of a long answer for HEAD: Fastify would read it to its end, with nobody to stop it (I7)', async () => {
  const app = Fastify();
  onTestFinished(() => app.close());
  app.decorateRequest('caller', undefined);
  let read = 0;
  app.get('/long', (request, reply) => {
    request.caller = { actor: 'viewer@x.example', role: 'viewer', address: request.ip };
    return sendPieces(request, reply, async function* () {
      for (; read < 1_000; read += 1) yield 'x';
    });
  });
  const answer = await app.inject({ method: 'HEAD', url: '/long' });
  expect([answer.statusCode, answer.headers['content-length']]).toEqual([200, undefined]);
  await app.close();
  expect(read).toBe(0);
});
