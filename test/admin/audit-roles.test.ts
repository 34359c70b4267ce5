import Fastify from 'fastify';
import { describe, expect, it } from 'vitest';
import { auditRoutes } from '../../src/admin/audit.ts';
import { PERSON_ROLES } from '../../src/domain/caller.ts';
import type { AuditRow } from '../../src/store/audit/audit-log.ts';

const ROW: AuditRow = {
  id: '1',
  at: '2026-11-22T00:00:00.000Z',
  actor: 'ann',
  role: 'support',
  address: '192.0.2.1',
  action: 'player.viewed',
  subject: 'player id-of-jane',
  operator: 'alpha',
  before: null,
  after: { transactionId: 'bet-of-jane' },
  reason: 'jane has asked for it',
};

describe('the audit', () => {
  it.each(PERSON_ROLES)('tells %s no more of a player than the role may know', async (role) => {
    const app = Fastify();
    app.decorateRequest('caller', undefined);
    app.addHook('onRequest', async (request) => {
      request.caller = { actor: 'bob', role, address: '192.0.2.2' };
    });
    auditRoutes(app, {
      audit: {
        page: async () => ({ items: [ROW], nextCursor: null }),
        all: async function* () {
          yield ROW;
        },
      },
    });
    const knowsPeople = role === 'support' || role === 'admin';
    for (const url of ['/audit', '/audit/export']) {
      const { payload } = await app.inject({ url });
      expect(payload).toContain('player.viewed');
      expect(payload.includes('jane')).toBe(knowsPeople);
    }
    await app.close();
  });
});
