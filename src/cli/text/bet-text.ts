import { jsonIn } from '../../lib/json-in.ts';
import { plain } from '../../lib/plain-text.ts';
import { columns, table } from '../../lib/table.ts';
import { jsonObjectIn } from '../../protocol/json.ts';
import type { AttemptView } from '../../store/bets/shown-attempts.ts';
import type { BetTimeline, OperationView } from '../../store/bets/timeline.ts';

const COLUMNS = columns(['time (UTC)', 'what', 'result', 'took', 'details'], ['took']);

/** A bet's story for people: its state, then a line per operation and attempt. */
export function betText(bet: BetTimeline): string {
  const facts: readonly (readonly [string, string | null])[] = [
    ['operator', bet.operator],
    ['player', playerOf(bet)],
    ['stake', bet.amount === null ? null : `${bet.amount} ${bet.currency ?? ''}`],
    ...(bet.bonusId === null ? [] : [['freebet', freebetText(bet)] as const]),
    ['place', bet.place],
    ['settlement', settlementOf(bet)],
    ['rollback', bet.rollback],
    ['in flight', bet.inFlight],
    ['created', timeOf(bet.createdAt)],
  ];
  const lines = facts.map(([name, value]) => `${name.padEnd(12)}${plain(value ?? '-')}`);
  const story = table(COLUMNS, bet.operations.flatMap(operationRows));
  return `bet ${plain(bet.transactionId)}: ${bet.state}\n\n${lines.join('\n')}\n\n${story}`;
}

function playerOf({ operatorUser, userId }: BetTimeline): string | null {
  return operatorUser === null ? null : `${operatorUser} (userId ${userId ?? '-'})`;
}

function freebetText({ bonusId, bonusTemplateId, bonusAmount }: BetTimeline): string {
  return `bonus ${bonusId} of template ${bonusTemplateId ?? '-'}, ${bonusAmount ?? '-'}`;
}

function settlementOf({ settlement }: BetTimeline): string {
  const { state, amount, resultType } = settlement;
  return amount === null ? state : `${state}, ${resultType ?? '-'} ${amount}`;
}

function operationRows(operation: OperationView): string[][] {
  const { delivery, answer, askedBy } = operation;
  const details = [
    operation.operation === 'settle' ? resultOf(operation.request) : undefined,
    answer === null ? undefined : refusalOf(answer.body),
    delivery === null ? undefined : `delivery ${delivery.id} ${delivery.state}`,
  ];
  const row = [
    timeOf(operation.receivedAt),
    operation.operation,
    askedBy === 'gateway' ? 'by the gateway' : answeredText(answer),
    '',
    details.filter((detail) => detail !== undefined).join('; '),
  ];
  return [row, ...operation.attempts.map(attemptRow)];
}

/** `won 40`: what the service sent, whether or not its wallet took it. */
function resultOf(request: Buffer): string | undefined {
  const document = jsonObjectIn(request);
  if (document === undefined) return undefined;
  const { resultType } = document.value;
  const amount = document.numberText('amount');
  if (typeof resultType !== 'string' || amount === undefined) return undefined;
  return plain(`${resultType} ${amount}`);
}

function answeredText(answer: OperationView['answer']): string {
  return answer === null ? 'no answer yet' : `answered ${answer.status}`;
}

function attemptRow(attempt: AttemptView): string[] {
  return [
    timeOf(attempt.startedAt),
    `  attempt ${attempt.number}`,
    attempt.result,
    `${attempt.latencyMs} ms`,
    plain(attemptDetails(attempt)),
  ];
}

/** The wallet's own words if there are any: `400 code 5: cannot do that`. */
function attemptDetails({ status, code, error }: AttemptView): string {
  // An older row has only the fact that it was declined.
  if (error !== null && error !== 'declined') return error;
  const known = [status === null ? '' : `HTTP ${status}`, code === null ? '' : `code ${code}`];
  return known.filter((part) => part !== '').join(' ') || (error ?? '');
}

/** `code 7 Not enough money`, if an answer says so; undefined for a success. */
function refusalOf(body: string): string | undefined {
  const answer = jsonIn(body);
  if (typeof answer !== 'object' || answer === null || !('code' in answer)) return undefined;
  const message = 'message' in answer ? ` ${String(answer.message)}` : '';
  return plain(`code ${String(answer.code)}${message}`);
}

/** `2026-11-20T23:59:01.123Z` as `2026-11-20 23:59:01.123`. */
export function timeOf(iso: string): string {
  return iso.replace('T', ' ').replace('Z', '');
}
