import type { FastifyInstance } from 'fastify';
import { pino } from 'pino';
import { type AdminOptions, createAdminServer } from '../../../src/admin/server.ts';
import { systemClock } from '../../../src/domain/clock.ts';
import { ADMIN_TOKEN } from './admin.ts';

const unasked = () => Promise.reject(new Error('nobody may get this far'));

/** Nobody is signed in; there is a token. */
export const PEOPLE = {
  adminToken: ADMIN_TOKEN,
  issuer: undefined,
  sessions: {
    ...{ open: unasked, openByLink: unasked, makeLink: unasked },
    ...{ find: async () => undefined, close: unasked },
  },
  sessionMsMax: 0,
  attempts: { take: () => 0 },
  consoleUrl: undefined,
};
/** An issuer that is never asked. */
export const ISSUER = {
  roles: { rolesClaim: 'roles', rolesPrefix: '' },
  tokens: { verify: unasked },
  codeFlow: undefined,
};

/** A listener whose admin routes find nothing: every bet is missing. */
export function createUnasked(
  changes: Partial<AdminOptions> = {},
  adminToken = ADMIN_TOKEN,
): FastifyInstance {
  return createAdminServer({
    people: { ...PEOPLE, adminToken: adminToken || undefined },
    clock: systemClock,
    logger: pino({ level: 'silent' }),
    configuration: () => {
      throw new Error('nobody may get this far');
    },
    consoleFiles: new Map(),
    walletStates: unasked,
    ...{ timelines: { find: async () => undefined }, resolveResult: unasked },
    booksDays: { list: unasked },
    reconciler: { knows: unasked, receive: unasked },
    reconciliations: { find: unasked, list: unasked, failLost: unasked },
    differences: { list: unasked, resolve: unasked },
    statements: {
      find: unasked,
      pages: () => {
        throw new Error('nobody may get this far');
      },
    },
    backlog: { look: unasked },
    isHeld: () => false,
    deliveryAdmin: {
      list: unasked,
      count: unasked,
      retry: unasked,
      retrySome: unasked,
      resolve: unasked,
    },
    health: {
      report: async () => ({ status: 'ready', dependencies: { postgresql: 'up', redis: 'up' } }),
    },
    metrics: {
      contentType: 'text/plain; version=0.0.4',
      text: async function* () {
        yield 'up 1\n';
      },
    },
    overrideOf: () => 'auto',
    setBreaker: unasked,
    releaseGeneration: unasked,
    reload: unasked,
    holds: { all: unasked, releases: unasked, hold: unasked, resume: unasked },
    settingsOf: () => undefined,
    lastReload: () => ({ goodAt: '2026-11-29T00:00:00.000Z', result: 'ok' }),
    lastHour: { of: unasked, recently: unasked },
    probe: unasked,
    certificateFolder: '/nowhere',
    assignTemplates: unasked,
    source: { preview: unasked },
    bets: { page: unasked },
    players: { find: unasked, file: unasked },
    exportPlayer: () => {
      throw new Error('nobody may get this far');
    },
    forgetPlayer: unasked,
    revokeSessions: unasked,
    audit: {
      append: unasked,
      appendView: unasked,
      page: unasked,
      all: () => {
        throw new Error('nobody may get this far');
      },
    },
    ...changes,
  });
}
