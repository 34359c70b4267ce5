import { describe, expect, it } from 'vitest';
import { answerFindings } from '../../../tools/torture/check/answers.ts';
import { bookFindings, moneyFindings } from '../../../tools/torture/check/books.ts';
import { arrivalFindings } from '../../../tools/torture/check/traffic.ts';
import { type BetPlan, CHARACTERS } from '../../../tools/torture/plan/plan.ts';
import { type BetRecord, newRecord, type Send } from '../../../tools/torture/service/record.ts';
import { Wallet } from '../../../tools/torture/world/wallet.ts';

const PLAN: BetPlan = {
  id: 'b0',
  operator: 'alpha',
  stake: '10',
  startMs: 0,
  isFreebet: false,
  isForgotten: false,
  begins: 'here',
  refuses: {},
  steps: [],
  fates: [],
};
const PLAYER = { operatorToken: 'token', userId: 'u-agg', token: 'token', user: 'u' };
const CALL = {
  operation: 'place',
  transactionId: 't',
  requestId: 'r',
  user: 'u',
  amount: '10',
  currency: 'USD',
  token: 'token',
  resultType: undefined,
  coefficient: undefined,
} as const;

let sent = 0;

/** A send and its answer; each begins after the end of the previous one. */
function send(operation: Send['operation'], status: number, more: Partial<Send> = {}): Send {
  sent += 2;
  const isConfirmed = status === 200;
  const times = { atMs: sent, endedAtMs: sent + 1 };
  const usual = { step: `${operation}-step`, kind: 'first', requestId: 'r', body: '' } as const;
  const rest = { status, code: undefined, failure: undefined, isConfirmed, entrance: 0 };
  return { ...usual, ...rest, ...times, operation, ...more };
}

function lived(sends: Send[], more: Partial<BetRecord> = {}): BetRecord {
  return { ...newRecord(PLAN, 't', PLAYER), sends, ...more };
}

function walletWith(paid?: string): Wallet {
  const wallet = new Wallet('alpha', CHARACTERS.alpha, 'secret');
  wallet.ledger.addPlayer('u', 'token', '100');
  wallet.ledger.book(CALL);
  if (paid !== undefined) {
    wallet.ledger.book({ ...CALL, operation: 'settle', amount: paid, resultType: 'won' });
  }
  return wallet;
}

describe('the comparison of books', () => {
  const settled = lived([], { standing: 'accepted', paid: '20.00', isSettled: true });

  it('finds nothing where service and wallet agree, however they write it', () => {
    expect(bookFindings(settled, walletWith('20'))).toEqual([]);
    expect(moneyFindings(settled, walletWith('20'), '100')).toEqual([]);
  });

  it('finds a payout that differs in the last place', () => {
    expect(bookFindings(settled, walletWith('20.00000001'))).toHaveLength(1);
    expect(moneyFindings(settled, walletWith('20.00000001'), '100')).toHaveLength(1);
  });

  it('finds a stake that is kept of a bet that was given up', () => {
    const rolledBack = lived([], { standing: 'rolledBack' });
    expect(bookFindings(rolledBack, walletWith())).toHaveLength(1);
  });

  it('finds a stake that was never taken', () => {
    const wallet = new Wallet('alpha', CHARACTERS.alpha, 'secret');
    const accepted = lived([], { standing: 'accepted' });
    expect(bookFindings(accepted, wallet)).toHaveLength(1);
  });

  const update = (id: string, coefficient: string) =>
    ({
      id,
      move: { kind: 'update', coefficient },
      pauseMs: 0,
      isAlongside: true,
      via: 0,
      copies: [],
    }) as const;

  /** Two updates, after which the wallet has `held`. */
  function updated(held: string, sends: Send[]) {
    const plan = { ...PLAN, steps: [update('one', '1.5'), update('two', '1.7')] };
    const wallet = walletWith();
    wallet.ledger.book({ ...CALL, operation: 'update', coefficient: held });
    return bookFindings({ ...lived(sends, { standing: 'accepted' }), plan }, wallet);
  }

  it('finds the coefficient of an update that was answered before another was sent', () => {
    const sends = () => [
      send('update', 200, { step: 'one' }),
      send('update', 200, { step: 'two' }),
    ];
    expect(updated('1.5', sends())).toHaveLength(1);
    expect(updated('1.7', sends())).toEqual([]);
  });

  it('takes either of two updates that were on their way together, and no third', () => {
    const together = { atMs: 1, endedAtMs: 9 };
    const sends = () => [
      send('update', 200, { step: 'one', ...together }),
      send('update', 200, { step: 'two', ...together }),
    ];
    expect(updated('1.5', sends())).toEqual([]);
    expect(updated('1.7', sends())).toEqual([]);
    expect(updated('1.6', sends())).toHaveLength(1);
  });
});

describe('the look at the answers', () => {
  const kindsIn = (record: BetRecord) => answerFindings(record).map(({ kind }) => kind);

  it('finds nothing in a bet that went well', () => {
    const sends = [send('place', 200), send('settle', 503), send('settle', 200)];
    expect(kindsIn(lived(sends))).toEqual([]);
  });

  it('finds an operation that was answered 200 and then refused', () => {
    const sends = [send('settle', 200), send('settle', 400, { kind: 'again', code: 5 })];
    expect(kindsIn(lived(sends))).toContain('contradiction');
  });

  describe('of a settle that was answered 200, and then refused as its wallet refuses it', () => {
    const foundAt = (operator: 'alpha' | 'beta', ...later: readonly Send[]) => {
      const move = { kind: 'settle', amount: '20', resultType: 'won' } as const;
      const step = { id: 'settle-step', move, pauseMs: 0, isAlongside: false, via: 0, copies: [] };
      const plan: BetPlan = { ...PLAN, operator, refuses: { '20': 21 }, steps: [step] };
      const taken = send('settle', 200, { requestId: 'first' });
      const refused = send('settle', 400, { kind: 'again', code: 21, requestId: 'anew' });
      const sends = [taken, refused, ...later];
      return kindsIn({ ...lived(sends), plan });
    };

    it('finds nothing where it was taken over: the delivery is dead by then', () => {
      expect(foundAt('beta')).toEqual([]);
    });

    it('finds nothing where the first request itself comes again: it has its answer', () => {
      const repeat = { kind: 'replay', atMs: 9_000_000, endedAtMs: 9_000_001 } as const;
      expect(foundAt('beta', send('settle', 200, { ...repeat, requestId: 'first' }))).toEqual([]);
      const other = send('settle', 200, { ...repeat, requestId: 'anew' });
      expect(foundAt('beta', other)).toEqual(['contradiction']);
    });

    it('finds it where nothing is taken over', () => {
      expect(foundAt('alpha')).toEqual(['contradiction']);
    });
  });

  it('finds a place answered 200 after its rollback', () => {
    const place = send('place', 200, { body: 'x' });
    const rollback = send('rollback', 200);
    const copy = send('place', 200, { kind: 'replay', body: 'x' });
    const record = lived([place, rollback, copy], { rolledBackFromMs: rollback.atMs });
    expect(kindsIn(record)).toEqual(['contradiction']);
  });

  it('takes code 8 to a place after its rollback, and code 5 to a result, for what they are', () => {
    const rollback = send('rollback', 200);
    const place = send('place', 400, { kind: 'replay', code: 8 });
    const settle = send('settle', 400, { code: 5 });
    const record = lived([rollback, place, settle], { rolledBackFromMs: rollback.atMs });
    expect(kindsIn(record)).toEqual([]);
  });

  it('finds a repeat that is answered with another time', () => {
    const sends = [
      send('settle', 200, { body: 'at one' }),
      send('settle', 200, { body: 'at two', kind: 'again' }),
    ];
    expect(kindsIn(lived(sends))).toEqual(['otherAnswer']);
  });

  it('finds a refusal without a reason, and a server error', () => {
    expect(kindsIn(lived([send('place', 400, { code: 7 })]))).toEqual(['unexpectedRefusal']);
    expect(kindsIn(lived([send('settle', 500)]))).toEqual(['serverError']);
  });

  it('finds another stake that was accepted', () => {
    const sends = [send('place', 200), send('place', 200, { kind: 'conflict' })];
    expect(kindsIn(lived(sends))).toEqual(['conflictAccepted']);
  });
});

describe('the look at the traffic', () => {
  const arrivalsOf = (...spans: readonly (readonly [number, number | undefined])[]) => {
    const wallet = new Wallet('alpha', CHARACTERS.alpha, 'secret');
    const arrivals = spans.map(([atMs, endedAtMs]) => ({
      call: { ...CALL, operation: 'settle' as const },
      ...{ atMs, endedAtMs, doneAtMs: undefined, isUncertain: false },
    }));
    wallet.arrivals = () => arrivals;
    return arrivalFindings(lived([]), wallet).map(({ kind }) => kind);
  };

  it('finds two money operations of a bet at the wallet at once', () => {
    expect(arrivalsOf([0, 1_000], [300, 400])).toEqual(['overlap']);
    expect(arrivalsOf([0, undefined], [300, 400])).toEqual(['overlap']);
  });

  it('finds nothing where one came after the other', () => {
    expect(arrivalsOf([0, 290], [300, 400])).toEqual([]);
  });
});
