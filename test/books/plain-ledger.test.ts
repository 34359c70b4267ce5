import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { csvFields } from '../../src/lib/csv.ts';
import { Statements } from '../../src/store/books/statements.ts';
import { type TestBet, type TestPlayer, unplacedBet } from '../support/bet.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { closeNext, csvOf, dayBefore } from './support/closed-days.ts';
import { bookAll, rowsOf } from './support/kept-books.ts';
import { decimal, PlainLedger, thousandths } from './support/plain-ledger.ts';

const CURRENCIES = ['USD', 'JPY', 'KWD'] as const;
const FIRST_DAY = 4;

let gateway: TestGateway;
let players: readonly TestPlayer[];
beforeAll(async () => {
  gateway = await startTestGateway({ operators: { alpha: { currencies: [...CURRENCIES] } } });
  const balance = '100000000';
  players = await Promise.all(CURRENCIES.map((currency) => gateway.player({ currency, balance })));
});
afterAll(() => gateway.close());

/** What happens to a bet in one of the rounds, and on which of the days that were not over three rounds ago. */
const step = fc.record({
  round: fc.integer({ min: 0, max: 2 }),
  back: fc.integer({ min: 0, max: 2 }),
  kind: fc.constantFrom('settle', 'settle', 'settle', 'unsettle', 'rollback'),
  amount: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 90_000_000 })),
});
const history = fc.record({
  player: fc.nat({ max: CURRENCIES.length - 1 }),
  isFreebet: fc.boolean(),
  // A stake of nothing is one too.
  stake: fc.integer({ min: 0, max: 5_000_000 }),
  steps: fc.array(step, { maxLength: 6 }),
});

/** Dates the attempts that this bet has had since, in their order. */
async function date({ transactionId }: TestBet, from: number, days: readonly string[]) {
  await rowsOf(
    gateway,
    `UPDATE attempts a SET started_at = d.day::timestamptz + d.at * interval '1 second'
       FROM unnest($2::text[]) WITH ORDINALITY AS d(day, at),
            (SELECT a.operation_id, a.number, row_number() OVER (ORDER BY a.operation_id, a.number) AS at
               FROM attempts a JOIN operations o ON o.id = a.operation_id WHERE o.transaction_id = $1) n
      WHERE n.at = d.at + $3 AND a.operation_id = n.operation_id AND a.number = n.number`,
    [transactionId, days, from],
  );
}

it('statements are those of a ledger kept beside the gateway, whatever became of bets after a day’s end (I12)', async () => {
  const seed = Number(process.env.SEED ?? Date.now() % 1_000_000);
  const ledger = new PlainLedger();
  const bets = [];
  for (const { player, stake, ...rest } of fc.sample(history, {
    numRuns: 40,
    seed,
  })) {
    const whose = players[player];
    const bet = await unplacedBet(gateway, {
      ...(whose && { player: whose }),
      amount: decimal(stake),
    });
    const placed = await bet.place(rest.isFreebet ? { bonusId: '7' } : {});
    expect(placed.status, placed.body).toBe(200);
    const { currency } = bet.player;
    ledger.place(bet.transactionId, dayBefore(FIRST_DAY), { ...rest, currency }, stake);
    await date(bet, 0, [dayBefore(FIRST_DAY)]);
    bets.push({ bet, ...rest, tried: 1 });
  }
  for (let round = 0; round <= 3; round += 1) {
    const open = dayBefore(FIRST_DAY - round);
    for (const one of bets) {
      const days: string[] = [];
      for (const { back, kind, amount } of one.steps.filter((each) => each.round === round)) {
        // What belongs to a closed day is booked into the first open one.
        const isTaken = ledger.step(one.bet.transactionId, open, { kind, amount });
        if (!isTaken) continue;
        const { status, body } = await (kind === 'settle'
          ? one.bet.settle(decimal(amount), amount === 0 ? 'lost' : 'won')
          : one.bet[kind]());
        expect(status, body).toBe(200);
        days.push(dayBefore(Math.min(FIRST_DAY - round + back, FIRST_DAY)));
      }
      await date(one.bet, one.tried, days);
      one.tried += days.length;
    }
    await bookAll(gateway);
    expect(await closeNext(gateway)).toEqual([`alpha ${open}`]);
  }
  for (let ago = FIRST_DAY; ago > 0; ago -= 1)
    await compare(ledger, dayBefore(ago), `seed ${seed}`);
}, 60_000);

const NOTHING_SHOWN = {
  ...{ stakes: 0, payouts: 0, payoutReversals: 0, stakeReturns: 0, net: 0 },
  ...{ freebetStakes: 0, openStakes: 0 },
};

async function compare(ledger: PlainLedger, day: string, seed: string): Promise<void> {
  const statement = await new Statements(gateway.parts.database).find('alpha', day);
  const lines = (await csvOf(gateway, 'alpha', day)).trimEnd().split('\n').slice(1);
  for (const currency of CURRENCIES) {
    const of = `${seed}, ${currency} on ${day}`;
    const totals = statement?.totals.find((one) => one.currency === currency);
    const { bets = 0, openBets = 0, unresolved = 0, currency: _, ...amounts } = { ...totals };
    const shown = Object.entries(amounts).map(([name, text]) => [name, thousandths(text)]);
    const expected = ledger.sumsOf(day, currency);
    // A currency in which there was no bet so far is not named.
    const none = totals === undefined ? NOTHING_SHOWN : {};
    expect({ ...none, bets, openBets, ...Object.fromEntries(shown) }, of).toEqual(expected);
    expect(unresolved).toBe(0);
    // As a spreadsheet adds the lines up (docs/books.md, Statements).
    const net = lines
      .map((line) => csvFields(line))
      .filter(
        ([, , , code, kind, , freebet]) =>
          code === currency && !(freebet === 'true' && kind?.startsWith('stake')),
      )
      .reduce((sum, cells) => sum - thousandths(cells[5] ?? ''), 0);
    expect(net, of).toBe(expected.net);
  }
}
