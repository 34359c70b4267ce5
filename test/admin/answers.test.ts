import Fastify from 'fastify';
import { expect, it, onTestFinished } from 'vitest';
import { sendPieces } from '../../src/admin/answers.ts';

it('reads nothing of a long answer for HEAD: Fastify would read it to its end, with nobody to stop it (I7)', async () => {
  const app = Fastify();
  onTestFinished(() => app.close());
  let read = 0;
  app.get('/long', (request, reply) =>
    sendPieces(request, reply, async function* () {
      for (; read < 1_000; read += 1) yield 'x';
    }),
  );
  const answer = await app.inject({ method: 'HEAD', url: '/long' });
  expect([answer.statusCode, answer.headers['content-length']]).toEqual([200, undefined]);
  await app.close();
  expect(read).toBe(0);
});
