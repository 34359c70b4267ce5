import type { ResultType } from '../../../src/domain/bet.ts';

/** The answer to the service: a status, the code of a refusal, the time of a success. */
export interface Told {
  readonly status: 200 | 400 | 503;
  readonly code?: number;
  readonly time?: string;
}

export interface Result {
  readonly amount: string;
  readonly resultType: ResultType;
}
