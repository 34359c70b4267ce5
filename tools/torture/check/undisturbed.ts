import type { Plan } from '../plan/plan.ts';
import type { BetRecord } from '../service/record.ts';
import type { Finding } from './finding.ts';

const SYSTEM_ERROR = 100;

/** If nothing goes wrong, no place may be answered 100: declines must not count as a failure of the wallet. */
export function refusalFindings(
  plan: Plan,
  records: readonly BetRecord[],
  wasLagging: (fromMs: number, toMs: number) => boolean,
): Finding[] {
  const isWell = plan.faults.length === 0 && records.every(isAnsweredWell);
  if (!isWell) return [];
  return records.flatMap((record) =>
    record.sends
      .filter(({ operation, code }) => operation === 'place' && code === SYSTEM_ERROR)
      .filter(({ atMs, endedAtMs }) => !wasLagging(atMs, endedAtMs))
      .map((send): Finding => {
        const text = `a place was answered 100 after ${Math.round(send.endedAtMs - send.atMs)} ms although every wallet answers properly`;
        return { kind: 'needlessRefusal', bet: record.plan.id, text };
      }),
  );
}

/** Faults after which only the end of a lease can free a bet. */
const COSTS_A_LEASE = new Set(['loseRequest', 'loseAnswer', 'loseBeforeCommit', 'loseAtCommit']);

/** Faults that only delay must not leave a bet locked: an attempt that gives up must free its bet (I11). */
export function blockedFindings(plan: Plan, records: readonly BetRecord[]): Finding[] {
  const mayBlock = plan.faults.some(({ fault }) =>
    fault.kind === 'connection' ? COSTS_A_LEASE.has(fault.how) : fault.kind !== 'flushRedis',
  );
  if (mayBlock) return [];
  return records.flatMap(({ plan: bet, sends }) =>
    bet.steps.flatMap(({ id }): Finding[] => {
      const own = sends.filter((send) => send.step === id && ASKED.has(send.kind));
      const tookMs = Math.max(0, ...own.map(({ endedAtMs }) => endedAtMs)) - (own[0]?.atMs ?? 0);
      if (tookMs < BLOCKED_MS_MIN) return [];
      const text = `${id} was answered only after ${Math.round(tookMs)} ms`;
      return [{ kind: 'blocked', bet: bet.id, text }];
    }),
  );
}

const ASKED: ReadonlySet<string> = new Set(['first', 'repeat']);
/** Longer than any fault of the plan with the repeats that it causes, shorter than a lease. */
const BLOCKED_MS_MIN = 10_000;

/** The bet's wallet is planned to do no worse than decline properly. */
function isAnsweredWell({ plan }: BetRecord): boolean {
  if (plan.begins === 'overtaken') return false;
  const isProper = (code: number) => ![8, 10, SYSTEM_ERROR].includes(code);
  return plan.fates.every(
    ({ answer, effect, code }) => answer === 'code' && effect === 'never' && isProper(code),
  );
}
