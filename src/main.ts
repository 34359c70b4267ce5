import { compose } from './compose.ts';
import { readEnvironment } from './config/environment.ts';
import { ConfigurationSource } from './config/source.ts';
import { systemClock } from './domain/clock.ts';
import { awaitDatabase, awaitRedis } from './start-up.ts';
import { createLogger } from './telemetry/logger.ts';
import { createMetrics } from './telemetry/metrics.ts';

const environment = readEnvironment(process.env);
const logger = createLogger(environment.logLevel);
const metrics = createMetrics();
const source = new ConfigurationSource({
  folder: environment.configFolder,
  env: process.env,
  logger,
});
await awaitDatabase(environment, systemClock, logger);
const gateway = compose({ environment, source, clock: systemClock, logger, metrics });
await awaitRedis(environment, gateway.accelerator, logger);
const app = gateway.publicServer();
const address = await app.listen({ host: environment.host, port: environment.port });
logger.info({ address }, 'gateway.listening');
process.on('SIGTERM', async () => {
  await app.close();
  await gateway.close();
  process.exit(0);
});
