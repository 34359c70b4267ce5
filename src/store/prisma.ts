import { PrismaPg } from '@prisma/adapter-pg';
import { PrismaClient } from './prisma-client/client.ts';

export type Prisma = PrismaClient;

/** The cold paths' way to PostgreSQL, on a few connections of its own. */
export function createPrisma(url: string): Prisma {
  return new PrismaClient({
    adapter: new PrismaPg({
      connectionString: url,
      max: 2,
      connectionTimeoutMillis: 4_000,
      statement_timeout: 10_000,
      query_timeout: 11_000,
      application_name: 'wagergate-cold',
    }),
  });
}
