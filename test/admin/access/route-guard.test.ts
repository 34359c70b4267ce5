import Fastify from 'fastify';
import { describe, expect, it } from 'vitest';
import { guardRoutes } from '../../../src/admin/access/route-guard.ts';
import { mayDo, PERSON_ROLES, type Right } from '../../../src/domain/caller.ts';

describe('the guard of the routes', () => {
  it('does not start with a route that does not declare the right it requires', async () => {
    const app = Fastify();
    app.decorate('guardedRoutes', []);
    app.register(async (scope) => {
      guardRoutes(scope, async () => ({ kind: 'unauthenticated', why: 'no token' }));
      scope.get('/forgotten', () => 'open');
    });
    await expect(app.ready()).rejects.toThrow('GET /forgotten does not say what it asks');
  });
});

describe('the roles', () => {
  it.each<[Right, readonly string[]]>([
    ['read', ['viewer', 'support', 'finance', 'admin']],
    ['personal', ['support', 'admin']],
    ['operate', ['support', 'admin']],
    ['books', ['finance', 'admin']],
    ['administer', ['admin']],
  ])('%s is for %j', (right, roles) => {
    expect(PERSON_ROLES.filter((role) => mayDo({ role }, right))).toEqual(roles);
  });
});
