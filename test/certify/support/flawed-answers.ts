import { addAmounts, subtractAmounts } from '../../../src/domain/amount.ts';
import type { WireAnswer } from '../../../tools/simulator/wallet/answers.ts';
import type { WalletCall } from '../../../tools/simulator/wallet/calls.ts';
import { judgeSignature } from '../../../tools/simulator/wallet/http.ts';
import type { Mistake } from './mistake.ts';

type Rewrite = (answer: WireAnswer, call: WalletCall) => WireAnswer;

const isBet = ({ operation }: WalletCall) => operation !== 'profile' && operation !== 'balance';

const rewritten = (rewrite: Rewrite): Mistake => ({ rewrite });

/** Changes members of matching JSON answers. */
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

/**
 * Verifies the signature over the parsed and re-serialised body, which service protocol reports of real wallets.
 */
export const reserialises: Mistake = {
  judge: ({ headers, body }, keys) => {
    try {
      const compact = Buffer.from(JSON.stringify(JSON.parse(body.toString('utf8'))));
      return judgeSignature({ headers, body: compact }, keys);
    } catch {
      // Not JSON: it cannot be serialised again.
      return { ok: false, reason: 'malformed' };
    }
  },
};

/** Sends no body with successes. */
export const emptySuccesses = rewritten((answer, call) =>
  isBet(call) && answer.status === 200 ? { ...answer, body: '' } : answer,
);

/** Also requires the older header. */
export const needsXSign: Mistake = {
  judge: (request, keys) =>
    request.headers['x-sign'] === undefined
      ? { ok: false, reason: 'missing' }
      : judgeSignature(request, keys),
};

/** Compares the whole signature header with its own, which has `alg` first. */
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

/** Changes every refusal, including those of requests that never become a call. */
function refusals(change: (answer: WireAnswer) => WireAnswer): Mistake {
  const rewrite = (answer: WireAnswer) => (answer.status === 400 ? change(answer) : answer);
  return { rewrite, rewriteRefused: rewrite };
}

export const errorsAs200 = refusals((answer) => ({ ...answer, status: 200 }));

/** Refuses with this status and no body. */
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

/** Returns anybody's balance to anybody. */
export const tellsForeignBalances = rewritten((answer, call) =>
  call.operation === 'balance' && call.userId !== 'ann'
    ? { status: 200, body: `{"userId":"${call.userId}","currency":"USD","amount":5}` }
    : answer,
);

export const oddProfile = members(
  ({ status }, { operation }) => status === 200 && operation === 'profile',
  (body) => ({ ...body, currencies: 'USD', customFields: { isVerified: 'yes' } }),
);

/** Rounds to the smallest coin, so that it is off by less than half a coin. */
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

/** Returns amounts in the smallest coin instead of units. */
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

/** Gives the reason for a refusal only by the status, and uses one status for signatures and tokens. */
export const refusesByStatusAlone = refusals((answer) => {
  const statuses: Readonly<Record<string, number>> = { 1: 401, 3: 401, 4: 401, 7: 402, 8: 409 };
  const code = /"code":(\d+)/.exec(answer.body)?.[1] ?? '';
  return { status: statuses[code] ?? 422, body: '{"message":"no"}' };
});

/** Refuses with 402 what the body already explains. */
export const refusesBy402 = refusals((answer) => ({ ...answer, status: 402 }));
