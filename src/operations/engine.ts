import type { Configuration } from '../config/schema/schema.ts';
import type { Clock } from '../domain/clock.ts';
import type { LiveCalls } from '../domain/live-calls.ts';
import type { Sessions } from '../sessions/sessions.ts';
import type { BetJournal } from '../store/bets/journal.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { Tracing } from '../telemetry/tracing.ts';
import type { BetChanges } from './bet-changes.ts';

/** What callbacks and deliveries need to send an operation to a wallet. */
export interface Engine {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly tracing: Tracing;
  readonly configuration: () => Configuration;
  readonly sessions: Sessions;
  readonly bets: BetJournal;
  readonly changes: BetChanges;
  readonly liveCalls: LiveCalls;
}
