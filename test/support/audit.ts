import type { Authority } from '../../src/store/audit/audited.ts';

/** A person for tests. */
export const BY: Authority = {
  caller: { actor: 'ann', role: 'admin', address: '192.0.2.1' },
  reason: 'OPS-17',
};
