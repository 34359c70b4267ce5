import { unreachable } from '../../../src/domain/unreachable.ts';
import type { Lived } from './lived.ts';
import type { Sent } from './service.ts';
import type { World } from './world.ts';

/** Everything that must never happen, as far as this run shows it. */
export async function findingsOf(world: World, lived: Lived): Promise<readonly string[]> {
  const bet = await world.bet(lived.slip.transactionId);
  const open = bet === undefined ? 0 : bet.deliveries.length;
  const journal: string[] = [];
  if (bet?.busy !== undefined) journal.push('the bet is never free again');
  if (open > 0) journal.push(`${open} promises are never confirmed`);
  journal.push(...(await personFindings(world, lived)));
  const { holding } = lived.wallet;
  if (bet !== undefined && holding.isHeld && bet.rollback.kind === 'none') {
    const { settlement } = bet;
    const believed = settlement.kind === 'settled' ? settlement.amount : settlement.kind;
    const held = holding.result ?? 'none';
    const isUnsettled = held === 'none' && (believed === 'none' || believed === 'unsettled');
    if (believed !== held && !isUnsettled) {
      journal.push(`the journal says ${believed}, the wallet holds ${held}`);
    }
  }
  return [...lived.wallet.wrong, ...journal, ...bookFindings(lived), ...answerFindings(lived)];
}

/**
 * Who was told that a delivery is due has a whole horizon, which one failure does not end; unless only a person may have
 * it sent again.
 */
export async function wordsBroken(world: World, lived: Lived): Promise<readonly string[]> {
  const { done, wallet, deliveryId } = lived;
  const isDue = done.some(({ answer = '' }) => answer.startsWith('retried'));
  if (!isDue || wallet.callerDialect.holdUnknownRepeats) return [];
  const [one] = await world.look('state-of', 'SELECT state FROM deliveries WHERE id = $1', [
    deliveryId,
  ]);
  return one?.state === 'dead' ? ['it is dead, after a person was told that it is due'] : [];
}

/** It contradicts itself: only dead ones are resolved. */
const FALSE = /^notResolvable: dead|^notRetryable: (dead|pending|held)/;
const TOLD = /^(retried|resolved)/;

/** A person was told the truth, and the audit has a row for what took effect, and none for what did not. */
async function personFindings(
  { look }: World,
  { slip, sent, done }: Lived,
): Promise<readonly string[]> {
  const { transactionId } = slip;
  const dead = await look(
    'left-dead',
    `SELECT id::text FROM deliveries WHERE transaction_id = $1 AND state = 'dead'`,
    [transactionId],
  );
  const rows = await look(
    'audited',
    `SELECT a.id::text FROM audit a
      WHERE a.subject = 'bet ' || $1
         OR a.subject IN (SELECT 'delivery ' || d.id FROM deliveries d WHERE d.transaction_id = $1)`,
    [transactionId],
  );
  const isLater = sent.some(({ message }) => message.id !== 'place' && message.id !== 'settle 20');
  const told = done.filter(({ answer = '' }) => TOLD.test(answer)).length;
  const bulk = done.filter(({ answer }) => answer === '1 retried').length;
  const open = done.filter(({ deed, answer }) => deed !== 'release' && answer === undefined).length;
  const isAudited = rows.length >= told + bulk && rows.length <= told + bulk + open;
  return [
    ...dead.map(({ id }) => `${id} is left dead`),
    ...(isAudited
      ? []
      : [`${told + bulk} (${open} unknown) took effect, the audit has ${rows.length}`]),
    ...done
      .filter(({ answer = '' }) => FALSE.test(answer) || (answer === 'overtaken' && !isLater))
      .map(({ deed, answer }) => `${deed} was told "${answer}"`),
  ];
}

/** Compares the wallet with what the service was told. */
function bookFindings({ sent, wallet, isPlacedElsewhere }: Lived): readonly string[] {
  const { isHeld, result } = wallet.holding;
  const confirmed = sent.filter(isConfirmed);
  const isRolledBack = confirmed.some(({ message }) => message.kind === 'rollback');
  if (isRolledBack) return isHeld ? ['rolled back, and the wallet keeps the stake'] : [];
  const isPlaced = isPlacedElsewhere || confirmed.some(({ message }) => message.kind === 'place');
  if (isPlaced !== isHeld) return [`placed: ${isPlaced}, and the wallet holds it: ${isHeld}`];
  const spans = spansOf(
    confirmed.filter(({ message }) => isResult(message.kind)),
    sent,
  );
  const last = spans.filter((span) => !spans.some((other) => other.from > span.to));
  const allowed = last.length === 0 ? [undefined] : last.map(({ value }) => value);
  if (allowed.includes(result)) return [];
  return [`the service was told ${allowed.join(' or ')}, the wallet holds ${result}`];
}

interface Span {
  readonly from: number;
  readonly to: number;
  readonly value: string | undefined;
}

/** From when an operation was first sent until it was first answered; copies do not count as other operations. */
function spansOf(confirmed: readonly Sent[], all: readonly Sent[]): readonly Span[] {
  const ids = new Set(confirmed.map(({ message }) => message.id));
  return [...ids].map((id) => {
    const own = all.filter(({ message }) => message.id === id);
    const answered = confirmed.filter(({ message }) => message.id === id);
    const [first] = own;
    return {
      from: Math.min(...own.map(({ from }) => from)),
      to: Math.min(...answered.map(({ to }) => to)),
      value: first?.message.kind === 'unsettle' ? undefined : first?.message.value,
    };
  });
}

function answerFindings({ sent }: Lived): readonly string[] {
  const wrong: string[] = [];
  const ids = new Set(sent.map(({ message }) => message.id));
  for (const id of ids) {
    const told = sent.filter((one) => one.message.id === id && isConfirmed(one));
    const bodies = new Set(told.map(({ answer }) => answer?.body));
    if (bodies.size > 1) wrong.push(`${id} was told ${[...bodies].join(' and ')}`);
    const refused = sent.find((one) => one.message.id === id && one.answer?.status === 400);
    if (told.length > 0 && refused !== undefined && !mayBeRefused(refused, sent)) {
      wrong.push(`${id} was told 200, and ${refused.answer?.body}`);
    }
  }
  const rollbacks = sent.filter((one) => one.message.kind === 'rollback' && isConfirmed(one));
  const fencedFrom = Math.min(...rollbacks.map(({ to }) => to));
  const late = sent.filter((one) => one.message.kind === 'place' && one.from > fencedFrom);
  if (late.some(isConfirmed)) wrong.push('a place was told 200 after its rollback');
  return wrong;
}

/** After a rollback every result is a conflict, and a copy of a place may be answered 100. */
function mayBeRefused(refused: Sent, sent: readonly Sent[]): boolean {
  const { kind } = refused.message;
  switch (kind) {
    case 'place':
      return refused.answer?.body.includes('"code":100') === true || isRolledBack(sent);
    case 'settle':
    case 'unsettle':
      return isRolledBack(sent);
    case 'rollback':
    case 'update':
      return false;
    default:
      return unreachable(kind);
  }
}

function isRolledBack(sent: readonly Sent[]): boolean {
  return sent.some(({ message }) => message.kind === 'rollback');
}

function isResult(kind: string): boolean {
  return kind === 'settle' || kind === 'unsettle';
}

function isConfirmed({ answer }: Sent): boolean {
  return answer?.status === 200;
}
