import type { Answers } from '../../api/wire.ts';
import { spanText } from '../../parts/times.ts';
import type { Tone } from '../../parts/tone.ts';

export type OperatorRow = Answers['GET /admin/operators']['items'][number];

/** An operator's open work, also of one that has no file. */
export type OpenItems = Answers['GET /admin/operators']['withoutFile'][number];

/** One thing about an operator that somebody should know. */
export interface Trouble {
  readonly tone: Extract<Tone, 'bad' | 'warn' | 'info'>;
  readonly text: string;
}

const WEIGHTS: Readonly<Record<Trouble['tone'], number>> = { bad: 10_000, warn: 100, info: 1 };

/** A share of all callbacks of the last minutes, profiles and balances included. */
const UNKNOWN_SHARE_BAD = 0.05;
const WAITS_LONG_MS = 15 * 60_000;

/** What is wrong with an operator, worst first. @param nowMs to tell how long something has waited */
export function troublesOf(row: OperatorRow, nowMs = Date.now()): readonly Trouble[] {
  const least = (name: CountName) => (row.countsAtLeast.includes(name) ? 'at least ' : '');
  const found: (Trouble | false)[] = [
    row.breaker.money === 'open' && bad('bets are not sent: breaker open'),
    row.releasedTo !== null && bad(`bets are not sent: released to generation ${row.releasedTo}`),
    (row.deadDeliveries ?? 0) > 0 && bad(`${least('deadDeliveries')}${row.deadDeliveries} dead`),
    (row.unresolvedBets ?? 0) > 0 &&
      bad(`${least('unresolvedBets')}${row.unresolvedBets} unresolved`),
    row.breaker.read === 'open' && bad('profile and balance are not asked: breaker open'),
    (row.recently?.late ?? 0) > 0 && bad(`${row.recently?.late} answered late`),
    unknownTrouble(row),
    row.status === 'suspended' && warn('suspended'),
    row.status === 'maintenance' && warn('maintenance'),
    row.hold !== null && warn('deliveries held'),
    row.breaker.money === 'half_open' && warn('breaker tries again'),
    row.override.money !== 'auto' && warn(`breaker set ${row.override.money} by hand`),
    row.override.read !== 'auto' && warn(`read breaker set ${row.override.read} by hand`),
    row.oldestDelivery !== null && waitingTrouble(row.oldestDelivery, nowMs),
    (row.openDeliveries ?? 0) > 0 &&
      info(`${least('openDeliveries')}${row.openDeliveries} waiting`),
    row.openDeliveries === null && warn('counts and holds are not known'),
  ];
  return found.filter((one) => one !== false);
}

type CountName = OperatorRow['countsAtLeast'][number];

/** A count for people: `?` if it is unknown, `500,000+` if there may be more. */
export function countText(rows: readonly OpenItems[], name: CountName): string {
  if (rows.some((row) => row[name] === null)) return '?';
  const sum = rows.reduce((total, row) => total + (row[name] ?? 0), 0);
  const isAtLeast = rows.some(({ countsAtLeast }) => countsAtLeast.includes(name));
  return `${sum.toLocaleString('en')}${isAtLeast ? '+' : ''}`;
}

/** The share of unknown outcomes among the callbacks of the last minutes; undefined if there were none. */
export function unknownShareOf({ recently }: OperatorRow): number | undefined {
  if (recently === null || recently.callbacks === 0) return undefined;
  return recently.unknown / recently.callbacks;
}

/** `12 %`; a share above zero is never shown as `0 %`, nor one below one as `100 %`. */
export function percentText(share: number): string {
  if (share === 0) return '0 %';
  if (share > 0.99 && share < 1) return '> 99 %';
  return share < 0.01 ? '< 1 %' : `${Math.round(share * 100)} %`;
}

function unknownTrouble(row: OperatorRow): Trouble | false {
  const share = unknownShareOf(row) ?? 0;
  if (share === 0) return false;
  const text = `${percentText(share)} unknown`;
  return share >= UNKNOWN_SHARE_BAD ? bad(text) : warn(text);
}

function waitingTrouble(oldest: string, nowMs: number): Trouble | false {
  const ms = nowMs - Date.parse(oldest);
  return ms >= WAITS_LONG_MS && warn(`oldest waits ${spanText(ms)}`);
}

/** For sorting: higher is worse. */
function severityOf(row: OperatorRow): number {
  const weight = troublesOf(row).reduce((sum, { tone }) => sum + WEIGHTS[tone], 0);
  // Of two with the same troubles, the one with more open work comes first.
  const stake =
    10 * (row.deadDeliveries ?? 0) + 10 * (row.unresolvedBets ?? 0) + (row.openDeliveries ?? 0);
  return weight + Math.min(stake, 9_000) / 10_000;
}

/** Worst first; equals by their id, so that rows do not jump about. */
export function worstFirst(rows: readonly OperatorRow[]): readonly OperatorRow[] {
  const weighed = rows.map((row) => ({ row, severity: severityOf(row) }));
  weighed.sort((a, b) => b.severity - a.severity || a.row.id.localeCompare(b.row.id));
  return weighed.map(({ row }) => row);
}

function bad(text: string): Trouble {
  return { tone: 'bad', text };
}

function warn(text: string): Trouble {
  return { tone: 'warn', text };
}

function info(text: string): Trouble {
  return { tone: 'info', text };
}
