import type { Environment } from '../config/environment/environment.ts';
import type { Configuration } from '../config/schema/schema.ts';
import type { ConfigurationSource } from '../config/source.ts';
import type { Clock } from '../domain/clock.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { Tracing } from '../telemetry/tracing.ts';

/** What a process provides; everything else is built from it. */
export interface Parts {
  readonly environment: Environment;
  /** The id of the database (`databaseId`): entries in Redis for another database are ignored. */
  readonly databaseId: string;
  readonly source: ConfigurationSource;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** Default: none. */
  readonly tracing?: Tracing;
}

export interface Base extends Required<Parts> {
  /** The configuration in force at the time of the call. */
  readonly configuration: () => Configuration;
}
