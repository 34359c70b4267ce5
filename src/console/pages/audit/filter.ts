import { known } from '../../app/search.ts';

export const readAuditFilter = known('actor', 'action', 'operator', 'from', 'to');
