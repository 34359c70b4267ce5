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

  /** Gives back the money of all. Does not judge the wallet: there are cases for that. */
  async giveBack(caller: ServiceCaller): Promise<void> {
    const odd = { isCleanUp: true };
    const calls = [...this.#bets.values()].map(async ({ slip, payout }) => {
      if (payout !== undefined) await caller.unsettle(slip, payout, odd);
      await caller.rollback(slip, 50, odd);
    });
    await Promise.all(calls);
    this.#bets.clear();
  }
}
