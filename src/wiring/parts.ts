import type { Environment } from '../config/environment.ts';
import type { Configuration } from '../config/schema.ts';
import type { ConfigurationSource } from '../config/source.ts';
import type { Clock } from '../domain/clock.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { Tracing } from '../telemetry/tracing.ts';

/** What a process brings along; all else is built from it. */
export interface Parts {
  readonly environment: Environment;
  /** Which database it is (`databaseId`): what Redis holds for another one counts for nothing. */
  readonly databaseId: string;
  readonly source: ConfigurationSource;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** Default: none. */
  readonly tracing?: Tracing;
}

export interface Base extends Required<Parts> {
  /** As it is in force at this moment. */
  readonly configuration: () => Configuration;
}
