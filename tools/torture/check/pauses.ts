import type { OperatorId } from '../plan/plan.ts';
import type { BetRecord } from '../service/record.ts';
import type { Wallet } from '../world/wallet.ts';
import type { Finding } from './finding.ts';

/** A period, on `performance.now()`, in which some operations must not reach an operator's wallet. */
export type Pause = {
  readonly operator: OperatorId;
  readonly fromMs: number;
  readonly toMs: number;
} & (
  | { readonly kind: 'held' }
  /** Bets placed before `raisedMs` are in the books of the earlier wallet. */
  | { readonly kind: 'otherWallet'; readonly raisedMs: number }
);

/** A delivery claimed before the pause began may still be under way. */
const ON_THE_WAY_MS = 300;

/** The operations that reached a bet's wallet although a person held them back. */
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

/** Whether the service already had its answer, so that the call must be a delivery. */
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
