/** What a wallet has confirmed of a bet after its place. */
interface Step {
  readonly kind: 'settle' | 'unsettle' | 'rollback';
  /** Of a settle, in whole thousandths of the currency, as all amounts here. */
  readonly amount: number;
}

interface Bet {
  readonly currency: string;
  readonly isFreebet: boolean;
  stake: number;
  paid: number;
  state: 'open' | 'settled' | 'rolled_back';
}

/** The sums of a day in one currency, as a statement shows them. */
interface Sums {
  bets: number;
  stakes: number;
  stakeReturns: number;
  payouts: number;
  payoutReversals: number;
  net: number;
  freebetStakes: number;
  openBets: number;
  openStakes: number;
}

const NOTHING: Sums = {
  ...{ bets: 0, stakes: 0, stakeReturns: 0, payouts: 0, payoutReversals: 0, net: 0 },
  ...{ freebetStakes: 0, openBets: 0, openStakes: 0 },
};

/** What an accountant writes down beside the gateway: none of the gateway's own code, whole numbers only. */
export class PlainLedger {
  readonly #bets = new Map<string, Bet>();
  /** By `2026-11-20 USD`. What is open is counted on the day it changes; `sumsOf` carries it on. */
  readonly #days = new Map<string, Sums>();

  place(id: string, day: string, bet: Pick<Bet, 'currency' | 'isFreebet'>, stake: number): void {
    this.#bets.set(id, { ...bet, stake, paid: 0, state: 'open' });
    const money = bet.isFreebet ? { freebetStakes: stake } : { stakes: stake, openStakes: stake };
    this.#add(day, bet.currency, { bets: 1, openBets: 1, ...money });
  }

  /** @returns whether it changes anything: the gateway answers the same step again from its journal */
  step(id: string, day: string, step: Step): boolean {
    const bet = this.#bets.get(id);
    if (bet === undefined || bet.state === 'rolled_back') return false;
    const paid = step.kind === 'settle' ? step.amount : 0;
    const state = STATES[step.kind];
    if (step.kind !== 'rollback' && bet.state === state && bet.paid === paid) return false;
    const opens = Number(state === 'open') - Number(bet.state === 'open');
    const ownStake = bet.isFreebet ? 0 : bet.stake;
    this.#add(day, bet.currency, {
      payouts: Math.max(paid - bet.paid, 0),
      payoutReversals: Math.max(bet.paid - paid, 0),
      stakeReturns: state === 'rolled_back' ? ownStake : 0,
      openBets: opens,
      openStakes: opens * ownStake,
    });
    Object.assign(bet, { paid, state });
    return true;
  }

  /** The sums of a day, with what was open at its end. */
  sumsOf(day: string, currency: string): Sums {
    const upTo = [...this.#days].filter(
      ([key]) => key <= `${day} ${currency}` && key.endsWith(` ${currency}`),
    );
    const sum = (name: 'openBets' | 'openStakes') =>
      upTo.reduce((total, [, one]) => total + one[name], 0);
    const { stakes, stakeReturns, payouts, payoutReversals, ...rest } =
      this.#days.get(`${day} ${currency}`) ?? NOTHING;
    const net = stakes - stakeReturns - payouts + payoutReversals;
    const open = { openBets: sum('openBets'), openStakes: sum('openStakes') };
    return { ...rest, stakes, stakeReturns, payouts, payoutReversals, net, ...open };
  }

  #add(day: string, currency: string, more: Partial<Sums>): void {
    const sums = { ...(this.#days.get(`${day} ${currency}`) ?? NOTHING) };
    for (const name of Object.keys(sums) as (keyof Sums)[]) sums[name] += more[name] ?? 0;
    this.#days.set(`${day} ${currency}`, sums);
  }
}

const STATES = { settle: 'settled', unsettle: 'open', rollback: 'rolled_back' } as const;

/** Whole thousandths as a decimal, and back. */
export const decimal = (thousandths: number) => (thousandths / 1_000).toFixed(3);
export const thousandths = (text: string) => Math.round(Number(text) * 1_000);
