import type { OperatorId } from '../plan/plan.ts';
import type { BetRecord } from '../service/record.ts';
import type { Wallet } from '../world/wallet.ts';
import type { Finding } from './finding.ts';

/** A time in which some things may not go to an operator's wallet, on `performance.now()`. */
export type Pause = {
  readonly operator: OperatorId;
  readonly fromMs: number;
  readonly toMs: number;
} & (
  | { readonly kind: 'held' }
  /** `raisedMs`: what was placed before is in the books of the wallet before. */
  | { readonly kind: 'otherWallet'; readonly raisedMs: number }
);

/** What was claimed before the pause began may still be on its way. */
const ON_THE_WAY_MS = 300;

/** What a bet's wallet got although a person held it back. */
export function pauseFindings(
  record: BetRecord,
  wallet: Wallet,
  pauses: readonly Pause[],
): Finding[] {
  return pauses
    .filter(({ operator }) => operator === record.plan.operator)
    .flatMap((pause) =>
      wallet
        .arrivals(record.transactionId)
        .filter(({ atMs }) => atMs > pause.fromMs + ON_THE_WAY_MS && atMs < pause.toMs)
        .filter(({ call, atMs }) =>
          pause.kind === 'held'
            ? wasAnswered(record, call.requestId, atMs)
            : wasPlacedBefore(record, pause.raisedMs),
        )
        .map(({ call }): Finding => {
          const why = pause.kind === 'held' ? 'a person held it' : 'its bet is of another wallet';
          const text = `${call.operation} came to the wallet although ${why}`;
          return { kind: 'notHeld', bet: record.plan.id, text };
        }),
    );
}

/** Whether the service had its answer: then it comes as a delivery. */
function wasAnswered({ sends }: BetRecord, requestId: string, atMs: number): boolean {
  const own = sends.filter((send) => send.requestId === requestId);
  return (
    own.length > 0 && own.every(({ isConfirmed, endedAtMs }) => isConfirmed && endedAtMs < atMs)
  );
}

function wasPlacedBefore({ sends, plan }: BetRecord, raisedMs: number): boolean {
  const place = sends.find(({ operation, isConfirmed }) => operation === 'place' && isConfirmed);
  return plan.begins === 'here' && place !== undefined && place.endedAtMs < raisedMs;
}
