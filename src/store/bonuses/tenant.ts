/** One operator with one partner account at the service. */
export interface Tenant {
  readonly operatorId: string;
  /** Ids of templates and bonuses are those of this account. */
  readonly upstreamCid: string;
}

/** Every query about a template or bonus has these parameters (I8). */
export const TENANT = { upstream_cid: 'text', operator_id: 'text' } as const;
