import type { DayChecks, OpenDays } from '../store/books/day-checks.ts';

/** Movements read by one statement: some tenths of a second if they come from disk. */
const STRETCH_ROWS = 50_000;

export interface CheckingDays {
  /** Asked between stretches; true abandons the check. */
  readonly isStopping: () => boolean;
  readonly stretchRows?: number;
}

/**
 * Compares the sums of an operator's open days with their movements while booking goes on. A rebuild may replace
 * movements in between, so a difference is computed twice before it is recorded.
 * @returns how many sums are wrong @throws GatewayError `DATABASE_UNAVAILABLE`
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

/** Undefined if the check was abandoned. */
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
