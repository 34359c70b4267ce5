import type { Client } from 'pg';
import { DeliveryAdmin } from '../../../../src/store/deliveries/delivery-admin.ts';
import { createPrisma } from '../../../../src/store/schema/prisma.ts';
import { openDatabase } from '../../../support/database.ts';

export const HORIZON_HOURS = 72;

/** The actions of people on deliveries, on a separate database. */
export interface AdminRig {
  readonly url: string;
  readonly client: Client;
  readonly deliveryAdmin: DeliveryAdmin;
  /** Operators that accept no calls. */
  readonly held: Set<string>;
  /** Deletes everything of the previous test. */
  clear(): Promise<void>;
  close(): Promise<void>;
}

export async function openAdminRig(): Promise<AdminRig> {
  const database = await openDatabase();
  const { url, client } = database;
  const prisma = createPrisma(url);
  const held = new Set<string>();
  const deliveryAdmin = new DeliveryAdmin({
    prisma,
    isHeld: (operatorId) => held.has(operatorId),
    horizonHours: () => HORIZON_HOURS,
  });
  return {
    url,
    client,
    deliveryAdmin,
    held,
    async clear() {
      await client.query('TRUNCATE deliveries, operations, bets, operator_holds');
      held.clear();
    },
    async close() {
      await prisma.$disconnect();
      await database.drop();
    },
  };
}
