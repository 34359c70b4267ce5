import { createHmac } from 'node:crypto';
import { compareAmounts, sameAmount, subtractAmounts } from '../../../src/domain/amount.ts';
import type { WireAnswer } from '../../../tools/simulator/wallet/answers.ts';
import { judgeSignature, type SignatureJudge } from '../../../tools/simulator/wallet/http.ts';
import { SECRET } from './certification.ts';
import { accepted, declined, flawed, type Mistake } from './mistake.ts';

/** Reads amounts as binary floats, multiplies by 100 and truncates: 1.13 becomes 112 cents. */
export const cutsCents = flawed((call, books) => {
  if (call.operation !== 'place' && call.operation !== 'settle') return undefined;
  const cents = Math.trunc(Number(call.amount) * 100);
  return books.book({ ...call, amount: `${Math.trunc(cents / 100)}.${twoDigits(cents % 100)}` });
});

function twoDigits(cents: number): string {
  return String(cents).padStart(2, '0');
}

/** Pays the stake for a refund, whatever its amount. */
export const refundsTheStake = flawed((call, books) => {
  const isRefund = call.operation === 'settle' && call.resultType === 'refund';
  const bet = isRefund ? books.bet(call.transactionId) : undefined;
  return bet === undefined ? undefined : books.book({ ...call, amount: bet.stake });
});

/** Pays nothing for a lost bet, whatever its amount. */
export const paysNothingForLost = flawed((call, books) =>
  call.operation === 'settle' && call.resultType === 'lost'
    ? books.book({ ...call, amount: '0' })
    : undefined,
);

/** Limits a win to this amount, and claims to have paid it all. */
export const capsPayouts = (most: string): Mistake =>
  flawed((call, books) =>
    call.operation === 'settle' &&
    call.resultType === 'won' &&
    compareAmounts(call.amount, most) > 0
      ? books.book({ ...call, amount: most })
      : undefined,
  );

/** Refuses a payout above this amount. */
export const refusesPayoutsAbove = (most: string): Mistake =>
  flawed((call) =>
    call.operation === 'settle' && compareAmounts(call.amount, most) > 0 ? declined(5) : undefined,
  );

/** Identifies bets by the first 32 characters of their ids. */
export function cutsIds(): Mistake {
  const known = new Map<string, string>();
  return flawed((call) => {
    const short = call.transactionId.slice(0, 32);
    const first = known.get(short);
    known.set(short, first ?? call.transactionId);
    return first === undefined || first === call.transactionId ? undefined : accepted();
  });
}

/** Of several bets above the balance it refuses only the first: the others were compared before that. */
export function lendsToTheThird(): Mistake {
  let above = 0;
  return flawed((call, books) => {
    if (call.operation !== 'place' || compareAmounts(call.amount, '900') < 0) return undefined;
    const verdict = books.book(call);
    if (verdict.kind === 'accepted') above = 0;
    else above += 1;
    if (above < 2) return verdict;
    books.credit(call.userId, call.currency, call.amount);
    return books.book(call);
  });
}

/** Forgets the rollback of a bet after this time: the next one returns the stake again. */
export function forgetsRollbacks(afterMs: number): Mistake {
  const rolledBackAtMs = new Map<string, number>();
  return flawed((call, books) => {
    const atMs = rolledBackAtMs.get(call.transactionId);
    if (call.operation !== 'rollback') return undefined;
    if (atMs === undefined) rolledBackAtMs.set(call.transactionId, performance.now());
    const bet = books.bet(call.transactionId);
    if (atMs === undefined || performance.now() - atMs < afterMs || bet === undefined) {
      return undefined;
    }
    books.credit(bet.user, bet.currency, bet.stake);
    return accepted();
  });
}

/** Forgets the result of a bet after this time: the same one pays again. */
export function forgetsResults(afterMs: number): Mistake {
  const settledAtMs = new Map<string, number>();
  return flawed((call, books) => {
    if (call.operation !== 'settle') return undefined;
    const atMs = settledAtMs.get(call.transactionId);
    settledAtMs.set(call.transactionId, performance.now());
    const bet = books.bet(call.transactionId);
    const isLate = atMs !== undefined && performance.now() - atMs >= afterMs;
    if (!isLate || bet?.status !== 'settled' || !sameAmount(bet.paid, call.amount)) {
      return undefined;
    }
    books.credit(bet.user, bet.currency, bet.paid);
    return accepted();
  });
}

type TakesBack = 'rollback' | 'unsettle' | 'settle';

/**
 * Never lets a balance fall below zero: it refuses with this code, or leaves the missing amount with the player.
 */
export const neverBelowZero = (operation: TakesBack, way: number | 'forgives'): Mistake =>
  flawed((call, books) => {
    const bet = call.operation === operation ? books.bet(call.transactionId) : undefined;
    if (bet?.status !== 'settled') return undefined;
    const left = { rollback: bet.stake, unsettle: '0', settle: call.amount }[operation];
    const taken = subtractAmounts(bet.paid, left);
    const missing = subtractAmounts(taken, books.balance(bet.user, bet.currency));
    if (compareAmounts(missing, '0') <= 0) return undefined;
    if (way !== 'forgives') return declined(way);
    const verdict = books.book(call);
    books.credit(bet.user, bet.currency, missing);
    return verdict;
  });

type SignedRequest = Parameters<SignatureJudge>[0];

const judged = (judge: SignatureJudge): Mistake => ({ judge });

/** Compares only as many characters as were sent. */
export const comparesWhatWasSent = judged((request, keys) =>
  String(request.headers['x-sign-jws']).endsWith('..')
    ? { ok: true }
    : judgeSignature(request, keys),
);

/** The correct signature for the header that was sent, without the header itself. */
function expectedMac({ headers, body }: SignedRequest): { sent: string; right: string } {
  const [header = '', , sent = ''] = String(headers['x-sign-jws']).split('.');
  const input = `${header}.${body.toString('base64url')}`;
  return { sent, right: createHmac('sha256', SECRET).update(input).digest('base64url') };
}

/** Compares only the first characters of a signature. */
export const comparesTheFirst = (characters: number): Mistake =>
  judged((request, keys) => {
    const { sent, right } = expectedMac(request);
    const isAlike = sent.slice(0, characters) === right.slice(0, characters);
    return isAlike ? { ok: true } : judgeSignature(request, keys);
  });

/** Accepts any non-empty beginning of the right signature. */
export const takesABeginning = judged((request, keys) => {
  const { sent, right } = expectedMac(request);
  const isBeginning = sent !== '' && right.startsWith(sent);
  return isBeginning ? { ok: true } : judgeSignature(request, keys);
});

/** Compares only the last characters of a signature. */
export const comparesTheLast = (characters: number): Mistake =>
  judged((request, keys) => {
    const { sent, right } = expectedMac(request);
    const isAlike = sent.slice(-characters) === right.slice(-characters);
    return isAlike ? { ok: true } : judgeSignature(request, keys);
  });

/** Accepts a second secret, meant for rotations, which nobody has set. */
export const takesTheUnsetSecret = (secret: string): Mistake =>
  judged((request, keys) => {
    const [header = '', , mac] = String(request.headers['x-sign-jws']).split('.');
    const input = `${header}.${request.body.toString('base64url')}`;
    const unset = createHmac('sha256', secret).update(input).digest('base64url');
    return mac === unset ? { ok: true } : judgeSignature(request, keys);
  });

/** Verifies the payload that a signature contains; the body only if it contains none. */
export const verifiesAttachedPayloads = judged((request, keys) => {
  const [header = '', payload = '', mac = ''] = String(request.headers['x-sign-jws']).split('.');
  if (payload === '') return judgeSignature(request, keys);
  const headers = { ...request.headers, 'x-sign-jws': `${header}..${mac}` };
  return judgeSignature({ headers, body: Buffer.from(payload, 'base64url') }, keys);
});

/** Does not verify the signature of these types of `PUT`. */
export const trustsType = (type: 1 | 5): Mistake =>
  judged((request, keys) => {
    const body = request.body.toString('utf8');
    // A place is of type 1 too, but has an address.
    const isTrusted = body.includes(`"type":${type}`) && (type === 5 || !body.includes('"ip"'));
    return isTrusted ? { ok: true } : judgeSignature(request, keys);
  });

/** Includes its settings in error answers, as frameworks do in development. */
export const showsSettings = showing(`"WALLET_SECRET":"${SECRET}"`);

/** The same for a framework that believes it hides them: as a Basic authorization header. */
export const showsSettingsEncoded = showing(
  `"AUTH":"Basic ${Buffer.from(`wallet:${SECRET}`).toString('base64')}"`,
);

function showing(env: string): Mistake {
  return {
    rewriteRefused: (answer: WireAnswer) => ({
      ...answer,
      body: answer.body.replace('}', `,"env":{${env}}}`),
    }),
  };
}

/** Names the signature that it had expected. */
export function tellsTheSignature(): Mistake {
  let expected = '';
  return {
    judge: (request, keys) => {
      const [header = ''] = String(request.headers['x-sign-jws']).split('.');
      const input = `${header}.${request.body.toString('base64url')}`;
      expected = createHmac('sha256', SECRET).update(input).digest('base64url');
      return judgeSignature(request, keys);
    },
    rewriteRefused: (answer: WireAnswer) => ({
      ...answer,
      body: answer.body.replace('mismatch', `expected ${expected}`),
    }),
  };
}

/** Repeats the request's own signature in every refusal. */
export function repeatsSignatures(): { readonly mistake: Mistake; readonly seen: string[] } {
  const seen: string[] = [];
  const mistake: Mistake = {
    judge: (request, keys) => {
      seen.push(String(request.headers['x-sign-jws']));
      return judgeSignature(request, keys);
    },
    rewrite: (answer) =>
      answer.status === 200
        ? answer
        : { ...answer, body: answer.body.replace('}', `,"got":"${seen.at(-1)}"}`) },
  };
  return { mistake, seen };
}

/** Refuses fractions, as a wallet may if its currency has no cents. */
export const refusesFractions = flawed((call) =>
  call.operation === 'place' && /\.\d*[1-9]/.test(call.amount) ? declined(5) : undefined,
);
