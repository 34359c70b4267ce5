import { type Client, DatabaseError } from 'pg';
import { clientRows } from '../sql/client-rows.ts';
import { limitLockWaits } from './lock-tries.ts';

const OTHERS = `
  SELECT format('ALTER TABLE %s OWNER TO %s', c.oid::regclass, p.relowner::regrole) AS give,
         c.relname AS name, c.relowner::regrole::text AS owner
    FROM pg_inherits i
    JOIN pg_class p ON p.oid = i.inhparent
    JOIN pg_class c ON c.oid = i.inhrelid
   WHERE p.oid IN (to_regclass('operations'), to_regclass('attempts')) AND c.relowner <> p.relowner
   ORDER BY c.relname`;

/**
 * Gives months that a member of the journal's owner made under an earlier build to the owner, as far as this role may:
 * the owner can neither prune them nor add a column. Each by itself, so that callbacks wait for one table at most. Not
 * once only, in a migration: the owner mostly applies that, and may not take what is another's.
 */
export async function giveMonthsToOwner(
  client: Client,
  log: (line: string) => void,
): Promise<void> {
  const others = await clientRows(client, OTHERS, [], (row) => ({
    give: row.text('give'),
    name: row.text('name'),
    owner: row.text('owner'),
  }));
  if (others.length > 0) await limitLockWaits(client);
  for (const { give, name, owner } of others) {
    try {
      await client.query(give);
      log(`${name} belongs to the journal's owner now, no longer to ${owner}`);
    } catch (error) {
      if (!(error instanceof DatabaseError)) throw error;
      log(
        `${name} belongs to ${owner}, so the journal's owner cannot prune or change it: let ${owner} run ` +
          `\`wagergate migrate\`, or a superuser: ${give} (${error.message})`,
      );
    }
  }
}
