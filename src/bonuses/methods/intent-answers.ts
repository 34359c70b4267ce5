import { GatewayError } from '../../domain/errors.ts';
import { unreachable } from '../../domain/unreachable.ts';
import type { NewIntent } from '../../store/bonuses/intent-statements.ts';
import type { BegunIntent } from '../../store/bonuses/intents.ts';
import type { BonusCall, Bonuses } from '../context.ts';
import { again, type BonusResult, NOTE_OPEN, notDone, stillOpen } from '../outcome.ts';
import { answerSummary, mayBeDone, type NotAnswered } from '../service/answer.ts';
import { type Json, treeText } from '../translation/json-tree.ts';
import type { Terms } from '../translation/terms.ts';
import { contentHash } from './request-body.ts';

/** How long the read-back leaves an intent to its request, which has certainly ended by then, in multiples of its timeout. */
const PATIENCE_FACTOR = 1.5;

/** The intent of an operator's request with this content. */
export function intentFor(bonuses: Bonuses, { tenant }: BonusCall, content: Json): NewIntent {
  return {
    tenant,
    bodyHash: contentHash(content),
    body: treeText(content),
    patienceMs: bonuses.configuration().gateway.service.bonusTimeoutMs * PATIENCE_FACTOR,
  };
}

/** The answer to a call that was made before. */
export function repeatAnswer(begun: Exclude<BegunIntent, { kind: 'begun' }>): BonusResult {
  switch (begun.kind) {
    case 'answered':
      return again(begun.answer);
    case 'open':
      return stillOpen('The same call was made before and is still open');
    case 'playersOpen':
      return stillOpen('An earlier call for one of these players and this template is still open');
  }
  return unreachable(begun);
}

/** Records an intent that the service did not confirm. @returns the operator's answer */
export async function notConfirmed(
  bonuses: Bonuses,
  intentId: string,
  answer: NotAnswered,
  terms: Terms,
): Promise<BonusResult> {
  if (mayBeDone(answer)) {
    // The service's own answer would pass for a refusal.
    const isNo = answer.kind === 'refused';
    const open = isNo ? ({ kind: 'failed', error: answerSummary(answer) } as const) : answer;
    return notDone(open, terms, NOTE_OPEN);
  }
  const reason = answer.kind === 'refused' ? `refused, code ${answer.code ?? '-'}` : answer.kind;
  await bonuses.intents.fail(intentId, reason);
  return notDone(answer, terms);
}

/** Records what the service has done. If that fails, the intent stays open for the read-back. */
export async function recorded(
  { logger }: Bonuses,
  call: BonusCall,
  terms: Terms,
  write: () => Promise<BonusResult>,
): Promise<BonusResult> {
  try {
    return await write();
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    logger.error({ operator: call.operator.id, err: error }, 'bonus.not_recorded');
    return notDone({ kind: 'silent', error: 'not recorded' }, terms, NOTE_OPEN);
  }
}
