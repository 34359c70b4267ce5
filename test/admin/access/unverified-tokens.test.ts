import Fastify from 'fastify';
import { expect, it, vi } from 'vitest';
import { authenticator } from '../../../src/admin/access/authentication.ts';
import { StrangerLog } from '../../../src/lib/stranger-log.ts';
import { IssuerUnavailable } from '../../../src/people/issuer.ts';
import { partly } from '../../support/partly.ts';
import { TestClock } from '../../support/test-clock.ts';

type Given = Parameters<typeof authenticator>;

it('a flood of tokens while the issuer is away is hardly logged (I11)', async () => {
  const clock = new TestClock();
  const warn = vi.fn();
  const verify = () => Promise.reject(new IssuerUnavailable('it does not answer'));
  const people = partly<Given[0]>({ issuer: { tokens: { verify } } });
  const app = Fastify();
  app.get('/', authenticator(people, partly<Given[1]>({ warn }), new StrangerLog(clock)));
  const flood = async (count: number) => {
    for (let at = 0; at < count; at += 1) {
      const headers = { authorization: 'Bearer made.up.token' };
      const answer = await app.inject({ url: '/', headers });
      expect(answer.json()).toMatchObject({ kind: 'unauthenticated' });
    }
  };
  await flood(200);
  expect(warn).toHaveBeenCalledTimes(10);
  clock.atMs += 1_000;
  await flood(1);
  expect(warn.mock.lastCall?.[0]).toMatchObject({ leftOut: 190 });
  await app.close();
});
