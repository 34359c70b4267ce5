import type { Parameters } from '../sql/statement.ts';

/** One operator with one partner account at the service. */
export interface Tenant {
  readonly operatorId: string;
  /** Ids of templates and bonuses are those of this account. */
  readonly upstreamCid: string;
}

/** Every query about a template or bonus has these parameters (I8). */
export const TENANT: Parameters<{ readonly tenant: Tenant }> = {
  upstream_cid: ['text', ({ tenant }) => tenant.upstreamCid],
  operator_id: ['text', ({ tenant }) => tenant.operatorId],
};
