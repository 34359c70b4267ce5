import { setTimeout as sleep } from 'node:timers/promises';
import { answerFindings } from '../check/answers.ts';
import { bookFindings, moneyFindings } from '../check/books.ts';
import { betsLeftToPeople, deliveryFindings } from '../check/deliveries.ts';
import type { Finding } from '../check/finding.ts';
import { movementFindings } from '../check/movements.ts';
import { ADMIN_TOKEN, type Deployment } from '../deployment/deployment.ts';
import { OPERATORS, type Plan } from '../plan/plan.ts';
import type { BetRecord } from '../service/record.ts';
import { CONFIRM_UNKNOWN_MS, LEASE_MS, OPENING_BALANCE, SECOND_CONFIRMATION } from '../settings.ts';
import type { Story } from '../story.ts';
import { withClient } from '../with-client.ts';
import type { Arrival, Wallet } from '../world/wallet.ts';
import type { Faults } from './faults.ts';

export interface Verdict {
  readonly plan: Plan;
  readonly findings: readonly Finding[];
  readonly story: Story;
  /** Bets that, according to the gateway itself, a person has to decide on. */
  readonly undecided: number;
  readonly walletCalls: number;
  /** How many faults of each kind have hit something. */
  readonly came: ReadonlyMap<string, number>;
}

export interface Played {
  readonly plan: Plan;
  readonly deployment: Deployment;
  readonly records: readonly BetRecord[];
  readonly story: Story;
  readonly faults: Faults;
  readonly crashesBefore: readonly number[];
}

const POLL_MS = 100;
/** The gateway sweeps every second, and looks for overdue work every other time. */
const SWEEPS_MS = 2_500;
/** The end of a lease may repair what looks wrong: any attempt may have lost its last commit. */
const PATIENCE_MS = LEASE_MS + SWEEPS_MS * 2;
const BEYOND_MS = 5_000;
const QUIET_CERTAIN_MS = 250;
const QUIET_UNCERTAIN_MS = CONFIRM_UNKNOWN_MS * (SECOND_CONFIRMATION + 1) + 1_300;

/** Waits, within limits, until nothing more can happen, and judges. */
export async function verdictOf(played: Played): Promise<Verdict> {
  const { plan, deployment, records, story, faults } = played;
  const healedAtMs = performance.now();
  const isUncertain = faults.haveCome || records.some((record) => hadUncertain(deployment, record));
  const quietMs = isUncertain ? QUIET_UNCERTAIN_MS : QUIET_CERTAIN_MS;
  // Endless repeats never become quiet.
  const giveUpAtMs = healedAtMs + quietMs + PATIENCE_MS + BEYOND_MS;
  let judged = await judge(played);
  for (;;) {
    const nowMs = performance.now();
    const lastAtMs = Math.max(
      healedAtMs,
      ...records.map((record) => lastArrival(deployment, record)),
    );
    const quietForMs = noneIsLate(deployment) ? nowMs - lastAtMs : 0;
    const isQuiet =
      quietForMs > quietMs || (quietForMs > QUIET_CERTAIN_MS && !(await isAnyOpen(played)));
    const isOver = nowMs - lastAtMs > quietMs + PATIENCE_MS || nowMs > giveUpAtMs;
    if (isOver || (isQuiet && judged.isSettled)) {
      judged = await judge(played);
      // Judged once more: books that lack a result and its unsettle agree by chance.
      if (isOver || judged.isSettled) break;
    }
    await sleep(POLL_MS);
    if (isQuiet || judged.isSettled) judged = await judge(played);
  }
  for (const { bet, kind, text } of judged.findings) story.tell('check', bet, `${kind}: ${text}`);
  return {
    plan,
    story,
    findings: judged.findings,
    undecided: judged.undecided,
    came: faults.came,
    walletCalls: records.reduce(
      (sum, record) =>
        sum + deployment.wallet(record.plan.operator).arrivals(record.transactionId).length,
      0,
    ),
  };
}

async function isAnyOpen({ deployment, records }: Played): Promise<boolean> {
  return await hasOpenWork(
    deployment.databaseUrl,
    records.map(({ transactionId }) => transactionId),
  );
}

interface Judged {
  readonly findings: readonly Finding[];
  readonly undecided: number;
  /** No finding is of a kind that time could still repair. */
  readonly isSettled: boolean;
}

async function judge(played: Played): Promise<Judged> {
  const { deployment, records } = played;
  const findings: Finding[] = crashFindings(played);
  const decided: BetRecord[] = [];
  const ids = records.map(({ transactionId }) => transactionId);
  const left = await betsLeftToPeople(deployment.databaseUrl, ids);
  for (const record of records) {
    const wallet = deployment.wallet(record.plan.operator);
    findings.push(...answerFindings(record), ...arrivalFindings(record, wallet));
    const books = [
      ...bookFindings(record, wallet),
      ...moneyFindings(record, wallet, OPENING_BALANCE),
    ];
    if (books.length === 0) {
      decided.push(record);
      continue;
    }
    // Only a result that the wallet was planned to refuse may be left to a person.
    const isRefused = Object.keys(record.plan.refuses).length > 0;
    if (isRefused && left.has(record.transactionId)) continue;
    decided.push(record);
    findings.push(...books);
  }
  const bookedAt = ({ plan: { operator }, transactionId }: BetRecord) =>
    deployment.wallet(operator).ledger.bets.get(transactionId);
  findings.push(...(await movementFindings(deployment.databaseUrl, decided, bookedAt)));
  const undecided = records.length - decided.length;
  findings.push(...(await deliveryFindings(adminUrlOf(deployment), ADMIN_TOKEN, records)));
  const isSettled = !findings.some(({ kind }) => CAN_CHANGE.has(kind));
  // A pending delivery explains wrong books of its bet: one finding is enough.
  const onTheWay = new Set(
    findings.filter(({ kind }) => kind === 'undelivered').map(({ bet }) => bet),
  );
  const apart = findings.filter(({ kind, bet }) => !isOfBooks(kind) || !onTheWay.has(bet));
  return { findings: apart, undecided, isSettled };
}

const OF_BOOKS: ReadonlySet<Finding['kind']> = new Set(['books', 'money', 'statement']);
const isOfBooks = (kind: Finding['kind']) => OF_BOOKS.has(kind);
const CAN_CHANGE: ReadonlySet<Finding['kind']> = new Set([...OF_BOOKS, 'undelivered']);

function crashFindings({ deployment, crashesBefore }: Played): Finding[] {
  return deployment.processes.flatMap(({ gateway }, index) =>
    gateway.crashes
      .slice(crashesBefore[index] ?? 0)
      .map((text): Finding => ({ kind: 'crash', bet: undefined, text })),
  );
}

function adminUrlOf(deployment: Deployment): string {
  return deployment.processes[0]?.gateway.adminUrl ?? '';
}

function hadUncertain(deployment: Deployment, record: BetRecord): boolean {
  if (record.isLeftToGateway || record.sends.some(({ failure }) => failure !== undefined)) {
    return true;
  }
  const arrivals = deployment.wallet(record.plan.operator).arrivals(record.transactionId);
  return arrivals.some(({ isUncertain }) => isUncertain);
}

function lastArrival(deployment: Deployment, record: BetRecord): number {
  const arrivals = deployment.wallet(record.plan.operator).arrivals(record.transactionId);
  return Math.max(0, ...arrivals.map(({ atMs, doneAtMs = 0 }) => Math.max(atMs, doneAtMs)));
}

function noneIsLate(deployment: Deployment): boolean {
  return (
    deployment.processes.length > 0 && OPERATORS.every((id) => deployment.wallet(id).lateOnes === 0)
  );
}

/**
 * Whether the gateway still has work to do for these bets. Reads the database directly, only to avoid waiting for
 * what cannot come; no finding depends on it.
 */
const OPEN_WORK = `
  SELECT EXISTS (
    SELECT 1 FROM bets b
     WHERE b.transaction_id = ANY ($1)
       AND (b.busy_attempt IS NOT NULL OR b.confirm_at IS NOT NULL
            OR b.rollback = 'none' AND (b.place = 'unknown' OR b.place_answered_unknown)
            OR EXISTS (SELECT 1 FROM deliveries d
                        WHERE d.transaction_id = b.transaction_id
                          AND d.state IN ('live', 'pending')))) AS is_open`;

async function hasOpenWork(databaseUrl: string, ids: readonly string[]): Promise<boolean> {
  return await withClient(databaseUrl, async (client) => {
    const { rows } = await client.query<{ is_open: boolean }>(OPEN_WORK, [ids]);
    return rows[0]?.is_open ?? true;
  });
}

/** How much later than the gateway a wallet may learn that a call was given up. */
const HANG_UP_MS = 200;

/** What is wrong with the calls that a bet's wallet received. */
function arrivalFindings(record: BetRecord, wallet: Wallet): Finding[] {
  const arrivals = wallet.arrivals(record.transactionId);
  const bet = record.plan.id;
  const findings: Finding[] = [];
  const places = arrivals.filter(({ call }) => call.operation === 'place').length;
  if (places > 1) {
    findings.push({ kind: 'placedTwice', bet, text: `the place was sent ${places} times` });
  }
  const money = arrivals.filter(({ call }) => call.operation !== 'update');
  for (const [index, later] of money.entries()) {
    const open = money.slice(0, index).find((earlier) => overlaps(earlier, later));
    if (open === undefined) continue;
    const text = `${later.call.operation} came while ${open.call.operation} was still at the wallet`;
    findings.push({ kind: 'overlap', bet, text });
  }
  return findings;
}

function overlaps(earlier: Arrival, later: Arrival): boolean {
  const endedAtMs = earlier.endedAtMs ?? Number.POSITIVE_INFINITY;
  // The owner was frozen for longer than its lease: another process had to take over.
  if (later.atMs - earlier.atMs >= LEASE_MS) return false;
  return endedAtMs > later.atMs + HANG_UP_MS;
}
