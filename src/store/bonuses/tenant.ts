import type { Parameters } from '../statement.ts';

/** One operator at one partner account of the service. */
export interface Tenant {
  readonly operatorId: string;
  /** Ids of templates and bonuses are those of this account. */
  readonly upstreamCid: string;
}

/** What every question about a template or bonus names (I8). */
export const TENANT: Parameters<{ readonly tenant: Tenant }> = {
  upstream_cid: ['text', ({ tenant }) => tenant.upstreamCid],
  operator_id: ['text', ({ tenant }) => tenant.operatorId],
};
