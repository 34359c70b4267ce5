import type { DayChecks, OpenDays } from '../store/books/day-checks.ts';

/** Movements of one statement: some tenths of a second where the disk has to be asked for them. */
const STRETCH_ROWS = 50_000;

export interface CheckingDays {
  /** Between two stretches: what was begun is then given up. */
  readonly isStopping: () => boolean;
  readonly stretchRows?: number;
}

/**
 * Holds the sums of an operator's open days to their movements, stretch by stretch in their order, while
 * others are booked: what counts is what was booked when the sums were read. A rebuild may replace
 * movements in between, so what differs is summed up once more before it is put on record.
 * @returns how many sums are wrong
 * @throws GatewayError `DATABASE_UNAVAILABLE`
 */
export async function checkDays(
  checks: DayChecks,
  operatorId: string,
  checking: CheckingDays,
): Promise<number> {
  for (const isNoted of [false, true]) {
    const of = await checks.openDays(operatorId);
    const sums = of && (await sumsOf(checks, of, checking));
    if (of === undefined || sums === undefined) return 0;
    const wrong = await checks.compare({ of, sums, isNoted });
    if (wrong === 0 || isNoted) return wrong;
  }
  return 0;
}

/** Undefined where it was given up. */
async function sumsOf(
  checks: DayChecks,
  of: OpenDays,
  { isStopping, stretchRows = STRETCH_ROWS }: CheckingDays,
): Promise<readonly string[] | undefined> {
  const all: string[] = [];
  const before = { confirmedAt: new Date(0), operationId: '0', sequence: 0 };
  for (let after = { day: of.firstDay, ...before }; ; ) {
    const { sums, next } = await checks.sumStretch(of, after, stretchRows);
    all.push(sums);
    if (next === undefined) return all;
    if (isStopping()) return undefined;
    after = next;
  }
}
