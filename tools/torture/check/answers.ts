import { CHARACTERS } from '../plan/plan.ts';
import type { BetRecord, Send } from '../service/record.ts';
import type { Finding, FindingKind } from './finding.ts';

const VALIDATION = 5;
const ALREADY_PROCESSED = 8;
const SYSTEM_ERROR = 100;
const TOKEN = new Set([3, 4]);

/** What is wrong with the answers that the service received about one bet. */
export function answerFindings(record: BetRecord): Finding[] {
  const findings: Finding[] = [];
  const find = (kind: FindingKind, text: string) =>
    findings.push({ kind, bet: record.plan.id, text });
  for (const text of record.unanswered) find('neverAnswered', `${text} never got an answer`);
  for (const send of record.sends) {
    if (send.status === 500) find('serverError', `${nameOf(send)} was answered 500: ${send.body}`);
    const refusal = refusalOf(record, send);
    if (refusal !== undefined) find('unexpectedRefusal', `${nameOf(send)}: ${refusal}`);
    if (contradictsBet(send) && send.status === 200) {
      find('conflictAccepted', `${nameOf(send)} contradicts the bet and was answered 200`);
    }
  }
  for (const sends of byStep(record)) {
    const contradiction = contradictionIn(record, sends);
    if (contradiction !== undefined) find('contradiction', contradiction);
    const other = otherAnswerIn(sends);
    if (other !== undefined) find('otherAnswer', other);
  }
  return findings;
}

/** Says why nothing in the history justifies this refusal; undefined if something does. */
function refusalOf(record: BetRecord, send: Send): string | undefined {
  if (send.status !== 400 || contradictsBet(send)) return undefined;
  const { code } = send;
  const said = `refused with code ${code}`;
  const gaveUp = rollbackBegan(record, send);
  switch (send.operation) {
    case 'place':
      if (code === SYSTEM_ERROR || (gaveUp && code === ALREADY_PROCESSED)) return undefined;
      return plannedDecline(record) === code ? undefined : `a place was ${said}`;
    case 'rollback':
      return code === ALREADY_PROCESSED ? undefined : `a rollback was ${said}`;
    case 'update':
      return `an update was ${said}`;
    case 'settle':
    case 'unsettle':
      if (gaveUp && code === VALIDATION) return undefined;
      if (isCashout(record, send) && TOKEN.has(code ?? 0) && sessionEnded(record, send)) {
        return undefined;
      }
      if (send.operation === 'settle' && isPlannedRefusal(record, send)) return undefined;
      return `a result was ${said}`;
  }
}

/** Two answers to one operation that cannot both be true. */
function contradictionIn(record: BetRecord, sends: readonly Send[]): string | undefined {
  const definite = sends.filter(
    (send) => send.isConfirmed || (send.status === 400 && send.code !== SYSTEM_ERROR),
  );
  for (const [index, first] of definite.entries()) {
    const other = definite
      .slice(index + 1)
      .find((send) => send.isConfirmed !== first.isConfirmed && send.atMs > first.endedAtMs);
    if (other === undefined) continue;
    // After a rollback every operation is refused; only the very same request still gets its old answer.
    if (rollbackBegan(record, first.isConfirmed ? other : first)) continue;
    if (first.operation === 'rollback') continue;
    if (first.isConfirmed && wasTakenOverInVain(record, other)) continue;
    // Refused when asked for anew: the very same request, which was confirmed before that, still gets its old answer.
    if (!first.isConfirmed && definite.slice(0, index).some(isRepeatedBy(other))) continue;
    return `${nameOf(first)} was answered ${first.status} (${first.code ?? 'ok'}), ${nameOf(other)} after it ${other.status} (${other.code ?? 'ok'})`;
  }
  return acceptedAfterRollback(record, sends);
}

function isRepeatedBy(other: Send): (send: Send) => boolean {
  return (send) => send.isConfirmed && send.requestId === other.requestId;
}

/** Whether a settle that was taken over is refused now: a dead letter, since its wallet refused it for good. */
function wasTakenOverInVain(record: BetRecord, refused: Send): boolean {
  const isQueued = CHARACTERS[record.plan.operator].settleOnFailure === 'queue';
  return isQueued && refused.operation === 'settle' && isPlannedRefusal(record, refused);
}

function acceptedAfterRollback(record: BetRecord, sends: readonly Send[]): string | undefined {
  const confirmed = record.sends.find((send) => send.operation === 'rollback' && send.isConfirmed);
  const late = sends.find(
    (send) =>
      send.operation === 'place' &&
      send.isConfirmed &&
      confirmed !== undefined &&
      send.atMs > confirmed.endedAtMs,
  );
  return late && `${nameOf(late)} was answered 200 although the rollback had been answered`;
}

/** "The first answer again" means word for word, including its time. */
function otherAnswerIn(sends: readonly Send[]): string | undefined {
  const confirmed = sends.filter((send) => send.isConfirmed);
  const [first] = confirmed;
  const other = confirmed.find((send) => send.body !== first?.body);
  if (first === undefined || other === undefined) return undefined;
  return `${nameOf(first)} was answered ${first.body}, ${nameOf(other)} ${other.body}`;
}

/** The sends of each step, without those whose content contradicts it. */
function byStep(record: BetRecord): readonly (readonly Send[])[] {
  const steps = new Map<string, Send[]>();
  for (const send of record.sends) {
    if (contradictsBet(send)) continue;
    const own = steps.get(send.step) ?? [];
    steps.set(send.step, own);
    own.push(send);
  }
  return [...steps.values()].map((sends) => sends.sort((one, other) => one.atMs - other.atMs));
}

/** A copy with another stake. */
function contradictsBet({ kind }: Send): boolean {
  return kind === 'conflict';
}

function rollbackBegan(record: BetRecord, send: Send): boolean {
  return record.rolledBackFromMs !== undefined && record.rolledBackFromMs < send.endedAtMs;
}

function sessionEnded(record: BetRecord, send: Send): boolean {
  const { sessionEndedFromMs: endedMs } = record;
  return endedMs !== undefined && endedMs < send.endedAtMs;
}

/**
 * Codes with which the outcome of a place stays unknown, whatever the wallet meant (docs/reference.md, Callbacks).
 */
const UNCERTAIN = new Set([8, 10, SYSTEM_ERROR]);

function plannedDecline(record: BetRecord): number | undefined {
  return record.plan.fates.find(
    ({ operation, answer, code }) =>
      operation === 'place' && answer === 'code' && !UNCERTAIN.has(code),
  )?.code;
}

function isCashout(record: BetRecord, send: Send): boolean {
  const step = record.plan.steps.find(({ id }) => id === send.step);
  return step?.move.kind === 'settle' && step.move.resultType === 'cashout';
}

function isPlannedRefusal(record: BetRecord, send: Send): boolean {
  const step = record.plan.steps.find(({ id }) => id === send.step);
  return step?.move.kind === 'settle' && record.plan.refuses[step.move.amount] === send.code;
}

function nameOf(send: Send): string {
  return `${send.operation} (${send.kind} of ${send.step})`;
}
