import { addAmounts, subtractAmounts } from '../../../src/domain/amount.ts';
import type { WireAnswer } from '../../../tools/simulator/wallet/answers.ts';
import type { WalletCall } from '../../../tools/simulator/wallet/calls.ts';
import { judgeSignature } from '../../../tools/simulator/wallet/http.ts';
import type { Mistake } from './mistake.ts';

type Rewrite = (answer: WireAnswer, call: WalletCall) => WireAnswer;

const isBet = ({ operation }: WalletCall) => operation !== 'profile' && operation !== 'balance';

const rewritten = (rewrite: Rewrite): Mistake => ({ rewrite });

/** Changes members of JSON answers that fit. */
function members(
  fits: (answer: WireAnswer, call: WalletCall) => boolean,
  change: (body: Record<string, unknown>, call: WalletCall) => object,
): Mistake {
  return rewritten((answer, call) =>
    fits(answer, call)
      ? { ...answer, body: JSON.stringify(change(JSON.parse(answer.body), call)) }
      : answer,
  );
}

export const acceptsAnySignature: Mistake = { judge: () => ({ ok: true }) };

/** Verifies by parsing and serialising again, as docs/protocol.md saw it done. */
export const reserialises: Mistake = {
  judge: ({ headers, body }, keys) => {
    try {
      const compact = Buffer.from(JSON.stringify(JSON.parse(body.toString('utf8'))));
      return judgeSignature({ headers, body: compact }, keys);
    } catch {
      // Not JSON: nothing to serialise again.
      return { ok: false, reason: 'malformed' };
    }
  },
};

/** Leaves successes without a body. */
export const emptySuccesses = rewritten((answer, call) =>
  isBet(call) && answer.status === 200 ? { ...answer, body: '' } : answer,
);

/** Wants the older header to be there too. */
export const needsXSign: Mistake = {
  judge: (request, keys) =>
    request.headers['x-sign'] === undefined
      ? { ok: false, reason: 'missing' }
      : judgeSignature(request, keys),
};

/** Compares the whole signature header with its own, in one order. */
export const wantsAlgFirst: Mistake = {
  judge: (request, keys) =>
    String(request.headers['x-sign-jws']).startsWith('eyJhbGci')
      ? judgeSignature(request, keys)
      : { ok: false, reason: 'malformed' },
};

export const answersNotEnoughAs = (code: number): Mistake =>
  members(
    ({ body }, { operation }) => operation === 'place' && body.includes('"code":7'),
    (body) => ({ ...body, code }),
  );

/** Refuses everything with this code, as PHP's exceptions do with 0. */
export const refusesAllAs = (code: number): Mistake => {
  const body = JSON.stringify({ code, message: 'Error' });
  const told = (answer: WireAnswer) => (answer.status === 400 ? { ...answer, body } : answer);
  return { rewrite: told, rewriteRefused: told };
};

/** Counts in binary floats, as many a wallet does. */
export function countsInFloats(): Mistake {
  let drift = 1000;
  let exact = '1000';
  return rewritten((answer, call) => {
    if (call.operation !== 'balance' || answer.status !== 200) return answer;
    const now = /"amount":([^}]+)/.exec(answer.body)?.[1] ?? '0';
    drift += Number(subtractAmounts(now, exact));
    exact = addAmounts(now, '0');
    return { ...answer, body: answer.body.replace(now, String(drift)) };
  });
}

/** Every refusal, also of requests that never become a call. */
function refusals(change: (answer: WireAnswer) => WireAnswer): Mistake {
  const rewrite = (answer: WireAnswer) => (answer.status === 400 ? change(answer) : answer);
  return { rewrite, rewriteRefused: rewrite };
}

export const errorsAs200 = refusals((answer) => ({ ...answer, status: 200 }));

/** Without a body that says more. */
const notEnoughAs = (status: number): Mistake =>
  rewritten((answer) => (answer.body.includes('"code":7') ? { status, body: '' } : answer));

export const notEnoughAs402 = notEnoughAs(402);

export const notEnoughAs500 = notEnoughAs(500);

export const notEnoughAsBare400 = notEnoughAs(400);

export const codeIn = (name: string): Mistake =>
  refusals((answer) => ({ ...answer, body: answer.body.replace('"code"', `"${name}"`) }));

export const without = (name: 'message' | 'transactionId' | 'transactionTime'): Mistake =>
  members(
    (_answer, call) => isBet(call),
    ({ [name]: _left, ...rest }) => rest,
  );

export const created = rewritten((answer, call) =>
  isBet(call) && answer.status === 200 ? { ...answer, status: 201 } : answer,
);

export const successCode = (code: number): Mistake =>
  members(
    ({ status }, call) => status === 200 && isBet(call),
    (body) => ({ ...body, code }),
  );

export const amountInQuotes = members(
  ({ status }, { operation }) => status === 200 && operation === 'balance',
  (body) => ({ ...body, amount: String(body.amount) }),
);

/** Tells anybody's balance to anybody. */
export const tellsForeignBalances = rewritten((answer, call) =>
  call.operation === 'balance' && call.userId !== 'ann'
    ? { status: 200, body: `{"userId":"${call.userId}","currency":"USD","amount":5}` }
    : answer,
);

export const oddProfile = members(
  ({ status }, { operation }) => status === 200 && operation === 'profile',
  (body) => ({ ...body, currencies: 'USD', customFields: { isVerified: 'yes' } }),
);

/** Rounds to the smallest coin, which is less than half of one off. */
export const roundsBalances = rewritten((answer, call) =>
  call.operation === 'balance' && answer.status === 200
    ? {
        ...answer,
        body: answer.body.replace(
          /"amount":([^}]+)/,
          (_, amount) => `"amount":${Number(amount).toFixed(2)}`,
        ),
      }
    : answer,
);

/** Counts in the smallest coin what others send in units. */
export const balancesInCents = rewritten((answer, call) =>
  call.operation === 'balance' && answer.status === 200
    ? {
        ...answer,
        body: answer.body.replace(
          /"amount":([^}]+)/,
          (_, amount) => `"amount":${Math.round(Number(amount) * 100)}`,
        ),
      }
    : answer,
);

/** Says by the status alone why it refuses, with one status for signatures and tokens. */
export const refusesByStatusAlone = refusals((answer) => {
  const statuses: Readonly<Record<string, number>> = { 1: 401, 3: 401, 4: 401, 7: 402, 8: 409 };
  const code = /"code":(\d+)/.exec(answer.body)?.[1] ?? '';
  return { status: statuses[code] ?? 422, body: '{"message":"no"}' };
});

/** Says by 402 what the body says too. */
export const refusesBy402 = refusals((answer) => ({ ...answer, status: 402 }));
