import { type Authority, auditSql } from '../audit/audited.ts';
import { inTransaction, isDuplicate, type Prisma, sql } from '../schema/prisma.ts';
import type { Tenant } from './tenant.ts';

const DAY_MS = 86_400_000;

export interface Assignment {
  /** Ids as decimal text. */
  readonly assigned: readonly string[];
  /** Already the operator's. */
  readonly unchanged: readonly string[];
  /** Another operator's: if there are any, nothing was assigned at all. */
  readonly taken: readonly { readonly templateId: string; readonly operatorId: string }[];
}

/**
 * Assigns templates on a person's decision: all or, if one is another operator's, none. The read-back then
 * closes a matching create. @throws GatewayError `DATABASE_UNAVAILABLE`
 */
export async function assignTemplates(
  prisma: Prisma,
  tenant: Tenant,
  templateIds: readonly string[],
  by: Authority,
): Promise<Assignment> {
  try {
    return await assign(prisma, tenant, templateIds, by);
  } catch (error) {
    if (!isDuplicate(error)) throw error;
    // Another assignment of one of these templates was a moment faster: a second try sees it.
    return await assign(prisma, tenant, templateIds, by);
  }
}

async function assign(
  prisma: Prisma,
  { operatorId, upstreamCid }: Tenant,
  templateIds: readonly string[],
  by: Authority,
): Promise<Assignment> {
  const ids = [...new Set(templateIds)].map(BigInt);
  return await inTransaction(prisma, async (transaction) => {
    const before = await transaction.bonusTemplate.findMany({
      where: { upstreamCid, templateId: { in: ids } },
    });
    const taken = before.filter((template) => template.operatorId !== operatorId);
    const known = new Set(before.map((template) => template.templateId));
    const missing = ids.filter((id) => !known.has(id));
    if (taken.length > 0) return { assigned: [], unchanged: [], taken: taken.map(ownerOf) };
    await transaction.bonusTemplate.createMany({
      data: missing.map((templateId) => ({
        upstreamCid,
        templateId,
        operatorId,
        origin: 'assigned',
      })),
    });
    await transaction.$executeRaw(
      auditSql(
        by,
        'bonus.assign',
        sql`SELECT 'template ' || t.id, ${operatorId}::text, NULL::jsonb,
                   jsonb_build_object('operator', ${operatorId}::text)
              FROM unnest(${missing}::bigint[]) AS t(id)`,
      ),
    );
    // Long past, so that the read-back checks these creates at once; each time differs from earlier ones.
    await transaction.bonusIntent.updateMany({
      where: { upstreamCid, kind: 'create', state: 'open', ambiguous: true },
      data: { lookAt: new Date(Date.now() % DAY_MS) },
    });
    return { assigned: missing.map(String), unchanged: [...known].map(String), taken: [] };
  });
}

function ownerOf(template: { readonly templateId: bigint; readonly operatorId: string }) {
  return { templateId: String(template.templateId), operatorId: template.operatorId };
}
