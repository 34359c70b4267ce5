import type { Logger } from '../telemetry/logger.ts';

/** Runs a duty of the worker; if it fails, that is logged, and the next sweep repeats it. Never rejects. */
export async function quietly(
  logger: Logger,
  duty: string,
  work: () => Promise<unknown>,
): Promise<void> {
  try {
    await work();
  } catch (error) {
    logger.warn({ err: error, duty }, 'deliveries.duty_failed');
  }
}
