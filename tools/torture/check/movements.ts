import { moneyOf, moneyText } from '../money.ts';
import type { BetRecord } from '../service/record.ts';
import { withClient } from '../with-client.ts';
import type { BookedBet } from '../world/ledger.ts';
import { heldOf } from './books.ts';
import type { Finding } from './finding.ts';

/** What the gateway's own books say about a bet, from the wallet's side, as decimal text. */
const SUMS = `
  SELECT transaction_id,
         trim_scale(-coalesce(sum(amount) FILTER (WHERE kind IN ('stake', 'stake_return')), 0))::text
           AS stake,
         trim_scale(coalesce(sum(amount) FILTER (WHERE kind IN ('payout', 'payout_reversal')), 0))::text
           AS paid
    FROM books_movements WHERE transaction_id = ANY ($1) GROUP BY transaction_id`;

const VIOLATIONS = `SELECT rule, subject, found, expected FROM books_violations`;

interface Sums {
  readonly transaction_id: string;
  readonly stake: string;
  readonly paid: string;
}

interface Violation {
  readonly rule: string;
  readonly subject: string;
  readonly found: string;
  readonly expected: string;
}

/**
 * Where the gateway's books disagree with a bet's wallet, and what their checker found.
 * @param bookedAt what the bet's wallet has booked for it
 */
export async function movementFindings(
  databaseUrl: string,
  records: readonly BetRecord[],
  bookedAt: (record: BetRecord) => BookedBet | undefined,
): Promise<Finding[]> {
  return await withClient(databaseUrl, async (client) => {
    const ids = records.map(({ transactionId }) => transactionId);
    const sums = await client.query<Sums>(SUMS, [ids]);
    const violations = await client.query<Violation>(VIOLATIONS);
    const byBet = new Map(sums.rows.map((row) => [row.transaction_id, row]));
    return [
      ...records.flatMap((record) =>
        differing(record, byBet.get(record.transactionId), bookedAt(record)),
      ),
      ...violations.rows.map(({ rule, subject, found, expected }): Finding => {
        const bet = records.find(({ transactionId }) => transactionId === subject)?.plan.id;
        const text = `the checker of the books found ${found} where the ${rule} says ${expected}`;
        return { kind: 'statement', bet, text };
      }),
    ];
  });
}

function differing(record: BetRecord, sums: Sums | undefined, booked: BookedBet | undefined) {
  const { stake = '0', paid = '0' } = sums ?? {};
  const held = heldOf(booked);
  const findings: Finding[] = [];
  for (const [word, says, holds] of [
    ['stakes', stake, held.stake],
    ['payouts', paid, held.paid],
  ] as const) {
    if (signedMoneyOf(says) === holds) continue;
    const text = `the books say ${says} of ${word}; the wallet ${moneyText(holds)}`;
    findings.push({ kind: 'statement', bet: record.plan.id, text });
  }
  return findings;
}

function signedMoneyOf(text: string): bigint {
  return text.startsWith('-') ? -moneyOf(text.slice(1)) : moneyOf(text);
}
