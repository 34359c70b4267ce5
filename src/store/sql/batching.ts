import { DatabaseError } from 'pg';
import { GatewayError } from '../../domain/errors.ts';

/** What all batches of statements have in common. */
export const BATCHING = {
  concurrency: 2,
  waitingMax: 5_000,
  isRowError: (error: unknown): boolean => error instanceof DatabaseError,
  refused: (why: string): Error => new GatewayError('DATABASE_UNAVAILABLE', why),
};
