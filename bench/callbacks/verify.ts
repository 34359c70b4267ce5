import { Client } from 'pg';
import { request } from 'undici';

/** The bets that the gateway has answered 200. */
export interface Accepted {
  readonly count: number;
  /** How many more there may be, whose answers were not received. */
  readonly cut: number;
  /** Their ids, if the client can tell. */
  readonly ids: readonly string[] | undefined;
}

/**
 * Speed that loses or doubles bets does not count: every bet answered 200 must be at the wallet once and accepted
 * in the journal, with exactly one accepted call (I3, I5).
 *
 * @param prefix the prefix of all bets that were sent through the gateway
 * @returns what is wrong, in words
 */
export async function findMistakes(
  { databaseUrl, walletUrl }: { readonly databaseUrl: string; readonly walletUrl: string },
  prefix: string,
  { count, cut, ids }: Accepted,
): Promise<string[]> {
  const atWallet = await walletCalls(walletUrl, prefix);
  const accepted = ids ?? [...atWallet.keys()];
  const journal = await journalOf(databaseUrl, prefix, accepted);
  const missing = accepted.filter((id) => !atWallet.has(id)).length;
  const repeated = [...atWallet.values()].filter((calls) => calls > 1).length;
  return [
    [missing, 'answered 200 but never at the wallet'],
    [repeated, 'more than once at the wallet'],
    [Math.max(0, count - journal.accepted), 'answered 200 but not accepted in the journal'],
    [Math.max(0, journal.told - count - cut), 'accepted in the journal, and not so answered'],
    [accepted.length - journal.attempts, 'without exactly one good call recorded'],
    [Math.max(0, atWallet.size - journal.bets), 'at the wallet without an intent in the journal'],
    [journal.busy, 'still under way in the journal'],
    [Math.max(0, journal.rolledBack - cut), 'rolled back although an answer was heard'],
  ].flatMap(([bets, what]) => (bets === 0 ? [] : `${bets} bets ${what}`));
}

async function walletCalls(
  walletUrl: string,
  prefix: string,
): Promise<ReadonlyMap<string, number>> {
  const answer = await request(`${walletUrl}/seen?${prefix}`);
  const text = await answer.body.text();
  const lines = text === '' ? [] : text.split('\n');
  return new Map(
    lines.map((line) => {
      const [id = '', count = ''] = line.split(' ');
      return [id, Number(count)];
    }),
  );
}

interface JournalCounts {
  readonly accepted: number;
  /** All accepted bets, except those whose callers were answered otherwise. */
  readonly told: number;
  readonly attempts: number;
  readonly bets: number;
  readonly busy: number;
  /** Rolled back by the gateway itself, minutes after their callers had gone. */
  readonly rolledBack: number;
}

const COUNTS = `
  WITH ours AS (SELECT * FROM bets WHERE starts_with(transaction_id, $1)),
       calls AS (
         SELECT o.transaction_id, count(*) FILTER (WHERE a.result = 'accepted') AS good, count(*) AS all
         FROM operations o JOIN attempts a ON a.operation_id = o.id
         WHERE o.operation = 'place' AND o.transaction_id = ANY ($2)
         GROUP BY o.transaction_id)
  SELECT (SELECT count(*)::int FROM ours WHERE place = 'accepted' AND transaction_id = ANY ($2)) AS accepted,
         (SELECT count(*)::int FROM ours WHERE place = 'accepted' AND NOT place_answered_unknown) AS told,
         (SELECT count(*)::int FROM calls WHERE good = 1 AND "all" = 1) AS attempts,
         (SELECT count(*)::int FROM ours) AS bets,
         (SELECT count(*)::int FROM ours WHERE busy_attempt IS NOT NULL) AS busy,
         (SELECT count(*)::int FROM ours WHERE rollback <> 'none') AS "rolledBack"`;

async function journalOf(
  connectionString: string,
  prefix: string,
  accepted: readonly string[],
): Promise<JournalCounts> {
  const client = new Client({ connectionString });
  await client.connect();
  try {
    const { rows } = await client.query<JournalCounts>(COUNTS, [prefix, accepted]);
    const [counts] = rows;
    if (counts === undefined) throw new Error('counts are one row');
    return counts;
  } finally {
    await client.end();
  }
}
