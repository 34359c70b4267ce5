import Fastify from 'fastify';
import { describe, expect, it } from 'vitest';
import { guardRoutes } from '../../src/admin/door.ts';
import { mayDo, PERSON_ROLES, type Right } from '../../src/domain/caller.ts';

describe('the door', () => {
  it('does not open a room with a route that does not say what it asks of its caller', async () => {
    const app = Fastify();
    app.decorate('guardedRoutes', []);
    app.register(async (room) => {
      guardRoutes(room, async () => ({ kind: 'nobody', why: 'nobody' }));
      room.get('/forgotten', () => 'open');
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
