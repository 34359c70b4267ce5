import type { BetSlip } from '../../protocol/callback-bodies.ts';
import type { ServiceCaller } from '../calls/caller.ts';

interface OpenBet {
  readonly slip: BetSlip;
  /** The standing payout as far as known; undefined while there is no result. */
  payout: string | undefined;
}

/** The bets of one case that the wallet has, or may have. */
export class OpenBets {
  readonly #bets = new Map<string, OpenBet>();

  has({ transactionId }: BetSlip): boolean {
    return this.#bets.has(transactionId);
  }

  add(slip: BetSlip): void {
    this.#bets.set(slip.transactionId, { slip, payout: undefined });
  }

  /** @param payout its standing payout, decimal text; undefined if that was taken back */
  paid({ transactionId }: BetSlip, payout: string | undefined): void {
    const bet = this.#bets.get(transactionId);
    if (bet !== undefined) bet.payout = payout;
  }

  delete({ transactionId }: BetSlip): void {
    this.#bets.delete(transactionId);
  }

  /**
   * Gives back the money of all, without judging the wallet. What is not answered is asked again, one bet after
   * another.
   */
  async giveBack(caller: ServiceCaller): Promise<void> {
    const odd = { isCleanUp: true };
    const unanswered: BetSlip[] = [];
    const calls = [...this.#bets.values()].map(async ({ slip, payout }) => {
      if (payout !== undefined) await caller.unsettle(slip, payout, odd);
      const { answer } = await caller.rollback(slip, 50, odd);
      if (answer.kind === 'none') unanswered.push(slip);
    });
    await Promise.all(calls);
    this.#bets.clear();
    for (const slip of unanswered) {
      const { answer } = await caller.rollback(slip, 50, odd);
      // A wallet that is silent would keep the run waiting for each of them.
      if (answer.kind === 'none') return;
    }
  }
}
