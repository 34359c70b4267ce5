import type { BetSlip } from '../../protocol/callback-bodies.ts';
import { describeExchange } from '../calls/answer-meaning.ts';
import type { RecordedCall } from '../calls/recorded-call.ts';
import type { CaseText } from '../case.ts';
import { RULES } from '../rules.ts';
import type { Trial } from '../trial/trial.ts';

/* Rollbacks carry the token of their bet, under `alwaysSendToken` results too, long after the player has left. */

const ADVICE =
  'Find the bet by its transactionId, and check no token here: the session may have ended days ago. If your wallet ' +
  'keeps ended tokens and takes them here, name one with --ended-token.';

/** No proof: the wallet may know the tokens that it has given out, and take those that have ended. */
const TAKES_NO_UNKNOWN =
  'was taken with a live token, but not with an unknown one; name one that has ended by --ended-token, to know whether ' +
  'it is taken then';

const usual = { rule: RULES.endedSession, meaning: 'costs_money', advice: ADVICE } as const;

/**
 * Sends with an ended token, and with a live one if that is refused.
 * @returns whether the call was taken with the ended token
 */
async function takenAfterwards(
  trial: Trial,
  slip: BetSlip,
  what: string,
  send: (slip: BetSlip) => Promise<RecordedCall>,
): Promise<boolean> {
  const { endedToken } = trial.player;
  const ended = await send({ ...slip, token: endedToken ?? trial.unknownToken() });
  if (isTaken(ended)) return true;
  if (!isTaken(await send(slip))) return false;
  const answered = describeExchange(ended.exchange);
  if (endedToken === undefined)
    trial.warn(`${what} ${TAKES_NO_UNKNOWN}: ${answered}`, 'costs_money');
  else trial.fail(`${what} was taken with a live token, but not with an ended one: ${answered}`);
  return false;
}

/** Code 8 confirms a rollback (service protocol, Errors). */
function isTaken({ answer, operation }: RecordedCall): boolean {
  if (answer.kind === 'refused') return operation === 'rollback' && answer.code === 8;
  return answer.kind === 'accepted';
}

export const settleEnded: CaseText = {
  ...usual,
  id: 'settle-ended-token',
  title: 'A result is paid after the session has ended',
  expected: '200, also where a token that no longer counts is sent with it',
  run: async (trial) => {
    await takenAfterwards(trial, await trial.placed(), 'a settle', (slip) => trial.won(slip, '3'));
  },
};

export const unsettleEnded: CaseText = {
  ...usual,
  id: 'unsettle-ended-token',
  title: 'An unsettle is taken after the session has ended',
  expected: '200, also where a token that no longer counts is sent with it',
  run: async (trial) => {
    const placed = await trial.placed();
    await trial.won(placed, '3');
    await takenAfterwards(trial, placed, 'an unsettle', (slip) => trial.unsettle(slip, '3'));
  },
};

export const rollbackEnded: CaseText = {
  ...usual,
  id: 'rollback-ended-token',
  title: 'A stake is refunded after the session has ended',
  expected: '200 to a rollback whose token no longer counts, the stake refunded',
  run: async (trial) => {
    const placed = await trial.placed();
    const what = 'a rollback';
    if (!(await takenAfterwards(trial, placed, what, (slip) => trial.rollback(slip)))) return;
    await trial.movedNothing('a bet rolled back with a token that no longer counts');
  },
};
