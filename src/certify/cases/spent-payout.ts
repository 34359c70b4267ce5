import type { BetSlip } from '../../protocol/callback-bodies.ts';
import { describeExchange } from '../calls/answer-meaning.ts';
import type { RecordedCall } from '../calls/recorded-call.ts';
import type { Trial } from '../trial/trial.ts';
import { Skipped } from '../trial/trial-context.ts';

/** The payout of a bet of 1. */
const PAYOUT = '3';

/** The balance's movement since before the bet: without the payout, and with it. */
const [PAYOUT_TAKEN, PAYOUT_KEPT] = ['-1', '2'] as const;

/**
 * Takes back a payout after the player has staked the whole balance, then gives that stake back: so the
 * balance shows it, even at a wallet that shows none below 0. @throws Skipped if it accepts no such stake
 */
export async function afterSpending(
  trial: Trial,
  takeBack: (slip: BetSlip) => Promise<RecordedCall>,
): Promise<RecordedCall> {
  const slip = await trial.placed();
  trial.accepts(await trial.won(slip, PAYOUT));
  const rest = trial.slip({ amount: await trial.money() });
  const { answer, exchange } = await trial.place(rest);
  if (answer.kind !== 'accepted') {
    throw new Skipped(`a stake of the whole balance was not taken: ${describeExchange(exchange)}`);
  }
  const recorded = await takeBack(slip);
  await trial.giveBack(rest);
  return recorded;
}

/**
 * A wallet that confirms an operation must have done it; after a refusal the service knows.
 * @param isProper whether the protocol has a refusal with this code
 */
export async function judgeSpent(
  trial: Trial,
  recorded: RecordedCall,
  what: string,
  isProper: (code: number | undefined) => boolean = () => false,
): Promise<void> {
  const { answer, exchange } = recorded;
  if (answer.kind !== 'refused') {
    trial.accepts(recorded);
    await trial.moved(PAYOUT_TAKEN, what);
    return;
  }
  if (!(await trial.moved(PAYOUT_KEPT, `${what}, which was refused`))) return;
  if (isProper(answer.code)) {
    return trial.remark(`the wallet does not change results: code ${answer.code}`);
  }
  trial.warn(
    `${what} is refused (${describeExchange(exchange)}): the player keeps it`,
    'costs_money',
  );
}
