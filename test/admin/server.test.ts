import { randomUUID } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { Client } from 'pg';
import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { BreakerOverrides } from '../../src/admin/breaker-overrides.ts';
import { createAdminServer } from '../../src/admin/server.ts';
import { systemClock } from '../../src/domain/clock.ts';
import { Readiness } from '../../src/http/health.ts';
import { placeBody, rollbackBody, settleBody } from '../../src/simulator/callback-bodies.ts';
import { DeliveryDesk } from '../../src/store/delivery-desk.ts';
import { DeliveryStore } from '../../src/store/delivery-store.ts';
import { createPrisma } from '../../src/store/prisma.ts';
import { type DeliveryRow, insertDelivery, insertOperation } from '../support/deliveries.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts';

const TOKEN = 'the-admin-token';

let gateway: TestGateway;
let postgres: TcpProxy;
let client: Client;
let app: FastifyInstance;
let baseUrl: string;
let woken: string[] = [];
const closers: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  gateway = await startTestGateway({
    operators: { alpha: { sessions: { mode: 'issued' } }, beta: { status: 'maintenance' } },
    through: async ({ databaseUrl, redisUrl }) => {
      client = new Client({ connectionString: databaseUrl });
      const url = new URL(databaseUrl);
      postgres = await startTcpProxy({ host: url.hostname, port: Number(url.port) });
      url.hostname = '127.0.0.1';
      url.port = String(postgres.port);
      return { databaseUrl: url.href, redisUrl };
    },
  });
  await client.connect();
  app = adminServer(TOKEN);
  baseUrl = await app.listen({ host: '127.0.0.1', port: 0 });
});

afterAll(async () => {
  await app.close();
  for (const close of closers.reverse()) await close();
  await client.end();
  await gateway.close();
  await postgres.close();
});

beforeEach(async () => {
  await client.query('TRUNCATE deliveries');
  woken = [];
});

function adminServer(adminToken: string | undefined): FastifyInstance {
  const { parts, metrics, configuration } = { ...gateway, configuration: gateway.configuration };
  const logger = pino({ level: 'silent' });
  const prisma = createPrisma(gateway.databaseUrl);
  const overrides = new BreakerOverrides({
    database: parts.database,
    wallets: parts.wallets,
    logger,
  });
  const readiness = new Readiness({
    clock: systemClock,
    checks: {
      postgresql: async () => (await prisma.$queryRaw<unknown[]>`SELECT 1`).length === 1,
      redis: () => parts.accelerator.isAnswering(),
    },
  });
  readiness.started();
  const store = new DeliveryStore(parts.database);
  closers.push(() => prisma.$disconnect());
  return createAdminServer({
    adminToken,
    logger,
    configuration,
    wallets: parts.wallets,
    timelines: parts.timelines,
    desk: new DeliveryDesk({
      prisma,
      isHeld: (operatorId) => parts.wallets.get(operatorId)?.refusal('rollback') !== undefined,
      horizonHours: () => 72,
      onRetry: (operatorId) => woken.push(operatorId),
    }),
    health: readiness,
    metricsText: async () => ({
      contentType: metrics.registry.contentType,
      body: await metrics.registry.metrics(),
    }),
    overrideOf: (operatorId, callClass) => overrides.get(operatorId, callClass),
    setBreaker: (operatorId, callClass, to) => overrides.set(operatorId, callClass, to),
    releaseGeneration: (operatorId, generation) => store.releaseGeneration(operatorId, generation),
    reload: () => gateway.source.reload(),
  });
}
