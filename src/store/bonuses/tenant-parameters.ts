import type { Parameters } from '../statement.ts';
import type { Tenant } from './ownership.ts';

/** What every question about a template or bonus names (I8). */
export const TENANT: Parameters<{ readonly tenant: Tenant }> = {
  upstream_cid: ['text', ({ tenant }) => tenant.upstreamCid],
  operator_id: ['text', ({ tenant }) => tenant.operatorId],
};
