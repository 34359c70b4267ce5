import type { TestGateway } from '../../support/gateway.ts';
import { SERVICE_SECRET } from '../../support/gateway.ts';
import { type GatewayProcess, startGateway } from '../../support/processes.ts';

/** A process beside a test's gateway, on the same servers, that does nothing but deliver. */
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
