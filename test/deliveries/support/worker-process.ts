import type { TestGateway } from '../../support/gateway.ts';
import { SERVICE_SECRET } from '../../support/gateway.ts';
import { type GatewayProcess, startGateway } from '../../support/processes.ts';

/** Another process on the same servers as a test's gateway, which only delivers. */
export function startWorkerProcess(gateway: TestGateway): Promise<GatewayProcess> {
  return startGateway({
    env: {
      DATABASE_URL: gateway.databaseUrl,
      REDIS_URL: gateway.redisUrl,
      GATEWAY_CONFIG: gateway.configFolder,
      ROLES: 'worker',
      ADMIN_PORT: '0',
      ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
      SERVICE_SECRET,
    },
  });
}
