import Fastify from 'fastify';
import { expect, it } from 'vitest';
import { type OperatorAdmin, operatorAdminRoutes } from '../../src/admin/operators/operators.ts';
import type { Release } from '../../src/store/deliveries/release.ts';
import { partly } from '../support/partly.ts';

it.each([
  [1, 400, []],
  [2, 200, [{ upTo: 2, to: 2 }]],
  [3, 200, [{ upTo: 3, to: 2 }]],
] as const)(
  'a release of generation %i, for a wallet of generation 2, is answered %i',
  async (generation, status, released) => {
    const given: Release[] = [];
    const app = Fastify();
    app.decorateRequest('caller', undefined);
    app.addHook('onRequest', async (request) => {
      request.caller = { actor: 'bob', role: 'admin', address: '192.0.2.2' };
    });
    app.removeAllContentTypeParsers();
    app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) =>
      done(null, body),
    );
    const alpha = { id: 'alpha', wallet: { generation: 2 } };
    operatorAdminRoutes(
      app,
      partly<OperatorAdmin>({
        configuration: () => ({ operators: new Map([['alpha', alpha]]) }),
        releaseGeneration: async (_: string, which: Release) => void given.push(which),
      }),
    );
    const url = '/operators/alpha/release';
    const payload = JSON.stringify({ generation });
    expect((await app.inject({ method: 'POST', url, payload })).statusCode).toBe(status);
    expect(given).toEqual(released);
    await app.close();
  },
);
