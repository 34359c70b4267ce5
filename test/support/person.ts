import { DeliveryAdmin } from '../../src/store/deliveries/delivery-admin.ts';
import { createPrisma } from '../../src/store/schema/prisma.ts';
import type { TestGateway } from './gateway.ts';

/** A person's actions on deliveries, without the gateway's listeners. */
export async function asPerson<T>(
  { databaseUrl }: Pick<TestGateway, 'databaseUrl'>,
  work: (admin: DeliveryAdmin) => Promise<T>,
): Promise<T> {
  const prisma = createPrisma(databaseUrl);
  try {
    return await work(new DeliveryAdmin({ prisma, isHeld: () => false, horizonHours: () => 1 }));
  } finally {
    await prisma.$disconnect();
  }
}
