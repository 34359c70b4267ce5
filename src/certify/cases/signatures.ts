import { randomUUID } from 'node:crypto';
import { type BetSlip, placeBody } from '../../protocol/callback-bodies.ts';
import { jsonString } from '../../protocol/json.ts';
import type { Odd } from '../calls/caller.ts';
import {
  attachedBody,
  changedEnd,
  changedSignature,
  emptySignature,
  type ForgedRequest,
  foreignSecret,
  NO_ALGORITHMS,
  noAlgorithm,
  otherBody,
  shortened,
  typeFirst,
  UNSET_SECRETS,
  unsetSecret,
  unsigned,
} from '../calls/forged-requests.ts';
import { type Case, type CaseText, group } from '../case.ts';
import { RULES } from '../rules.ts';
import type { Trial } from '../trial/trial.ts';

/** Code 1; the gateway never signs wrongly, so the form of this refusal hardly matters. */
const BAD_SIGNATURE = [1];

const VERIFY =
  'Compute HMAC-SHA256 over the JWS header, a dot and the base64url of the raw body, compare it in ' +
  'constant time, and answer 400 with code 1 where it differs, before anything else is looked at.';

async function forgedBalance(trial: Trial, forgery: ForgedRequest): Promise<void> {
  trial.refuses(await trial.balance({}, { forgery }), BAD_SIGNATURE, 'warn');
}

async function forgedPlace(trial: Trial, forgery: ForgedRequest): Promise<void> {
  trial.refuses(await trial.place(trial.slip(), { forgery }), BAD_SIGNATURE, 'warn');
  await trial.movedNothing('a place with a wrong signature');
}

/** Sends another stake than was signed. */
async function changedPlace(trial: Trial, forgeryOf: (body: string) => ForgedRequest) {
  const slip = trial.slip();
  const requestId = randomUUID();
  const more = { requestId: jsonString(requestId) };
  const forgery = forgeryOf(placeBody({ ...slip, amount: '2' }, more));
  trial.refuses(await trial.place(slip, { forgery, requestId }), BAD_SIGNATURE, 'warn');
  await trial.movedNothing('a place whose body was changed after signing');
}

/** Sends a place signed correctly, but in a way that the gateway itself does not use. */
async function oddButGood(trial: Trial, oddOf: (slip: BetSlip) => Odd, why: string) {
  const slip = trial.slip();
  const recorded = await trial.place(slip, oddOf(slip));
  if (recorded.answer.kind === 'accepted') await trial.moved('-1', 'the place');
  else trial.warn(`${why} was not accepted; the gateway sends compact JSON, signed with alg first`);
}

/** JSON over several lines, as a person would write it. */
function spaced(slip: BetSlip): Odd {
  const requestId = randomUUID();
  const value: unknown = JSON.parse(placeBody(slip, { requestId: jsonString(requestId) }));
  return { requestId, body: JSON.stringify(value, undefined, 2) };
}

const FORGED: readonly CaseText[] = [
  {
    id: 'signature-foreign-balance',
    title: 'A balance signed with another secret is refused',
    expected: '400 with code 1',
    advice: VERIFY,
    run: (trial) => forgedBalance(trial, foreignSecret),
  },
  {
    id: 'signature-missing-balance',
    title: 'A balance without a signature is refused',
    expected: '400 with code 1',
    advice: VERIFY,
    run: (trial) => forgedBalance(trial, unsigned),
  },
  {
    id: 'signature-foreign-profile',
    title: 'A profile signed with another secret is refused',
    expected: '400 with code 1',
    money: false,
    advice: VERIFY,
    run: async (trial) => {
      const recorded = await trial.profile(undefined, { forgery: foreignSecret });
      trial.refuses(recorded, BAD_SIGNATURE, 'warn');
    },
  },
  {
    id: 'signature-foreign-place',
    title: 'A place signed with another secret is refused',
    expected: '400 with code 1, nothing debited',
    advice: VERIFY,
    run: (trial) => forgedPlace(trial, foreignSecret),
  },
  {
    id: 'signature-missing-place',
    title: 'A place without a signature is refused',
    expected: '400 with code 1, nothing debited',
    advice: VERIFY,
    run: (trial) => forgedPlace(trial, unsigned),
  },
  {
    id: 'signature-tampered-place',
    title: 'A signature with one character changed is refused',
    expected: '400 with code 1, nothing debited',
    advice: VERIFY,
    run: (trial) => forgedPlace(trial, changedSignature),
  },
  {
    id: 'signature-tampered-end',
    title: 'A signature that is right but for its end is refused',
    expected: '400 with code 1, nothing debited',
    advice: `${VERIFY} Compare all 32 bytes: of a beginning anybody finds the next character by trying.`,
    run: (trial) => forgedPlace(trial, changedEnd),
  },
  {
    id: 'signature-shortened',
    title: 'The first half of a right signature is refused',
    expected: '400 with code 1, nothing debited',
    advice: `${VERIFY} Compare all 32 bytes, also where fewer were sent.`,
    run: (trial) => forgedPlace(trial, shortened),
  },
  {
    id: 'signature-no-algorithm',
    title: 'A header that asks for no algorithm is refused',
    expected: '400 with code 1, nothing debited',
    advice: 'Take HS256 and no other algorithm, whatever the header asks for (RFC 8725, 3.1).',
    run: async (trial) => {
      await Promise.all(NO_ALGORITHMS.map((name) => forgedPlace(trial, noAlgorithm(name))));
    },
  },
  {
    id: 'signature-empty',
    title: 'A header with no signature behind it is refused',
    expected: '400 with code 1, nothing debited',
    advice: `${VERIFY} Compare all 32 bytes, also where fewer were sent.`,
    run: (trial) => forgedPlace(trial, emptySignature),
  },
  {
    id: 'signature-unset-secret',
    title: 'A secret that was never set signs nothing',
    expected: `400 with code 1 to a balance signed with no text at all, or with ${UNSET_SECRETS.slice(1).join(', ')}`,
    advice:
      'Refuse to start without a secret, and take no empty one beside it, such as the place of ' +
      'the next one during a rotation.',
    run: async (trial) => {
      for (const secret of UNSET_SECRETS) {
        if (secret !== trial.context.secret) await forgedBalance(trial, unsetSecret(secret));
      }
    },
  },
  {
    id: 'signature-other-body',
    title: 'A signature of another body is refused',
    expected: '400 with code 1, nothing debited',
    advice: VERIFY,
    run: (trial) => changedPlace(trial, otherBody),
  },
  {
    id: 'signature-attached-body',
    title: 'A signature of another body, which it brings along, is refused',
    expected: '400 with code 1, nothing debited',
    advice: `${VERIFY} Refuse a header that has anything between its two dots: it is a signature of that, not of the body.`,
    run: (trial) => changedPlace(trial, attachedBody),
  },
  {
    id: 'signature-foreign-settle',
    title: 'A settle signed with another secret is refused',
    expected: '400 with code 1, nothing paid',
    advice: VERIFY,
    run: async (trial) => {
      const slip = await trial.placed();
      const recorded = await trial.won(slip, '3', { forgery: foreignSecret });
      trial.refuses(recorded, BAD_SIGNATURE, 'warn');
      await trial.moved('-1', 'a settle with a wrong signature');
    },
  },
  {
    id: 'signature-foreign-rollback',
    title: 'A rollback signed with another secret is refused',
    expected: '400 with code 1, nothing refunded',
    advice: VERIFY,
    run: async (trial) => {
      const slip = await trial.placed();
      const recorded = await trial.rollback(slip, 50, { forgery: foreignSecret });
      trial.refuses(recorded, BAD_SIGNATURE, 'warn');
      await trial.moved('-1', 'a rollback with a wrong signature');
    },
  },
  {
    id: 'signature-missing-results',
    title: 'A settle, an unsettle and a rollback without a signature are refused',
    expected: '400 with code 1 to each, no money moves',
    advice: `${VERIFY} A request without the header is refused too, whatever its method.`,
    run: async (trial) => {
      const [open, settled] = await Promise.all([trial.placed(), trial.placed()]);
      await trial.cashedOut(settled, '3');
      await trial.open();
      const odd = { forgery: unsigned };
      for (const send of [
        () => trial.won(open, '3', odd),
        () => trial.unsettle(settled, '3', odd),
        () => trial.rollback(open, 50, odd),
      ]) {
        trial.refuses(await send(), BAD_SIGNATURE, 'warn');
      }
      await trial.movedNothing('calls without a signature');
    },
  },
  {
    id: 'signature-foreign-unsettle',
    title: 'An unsettle signed with another secret is refused',
    expected: '400 with code 1, nothing taken back',
    advice: VERIFY,
    run: async (trial) => {
      const slip = await trial.placed();
      // A cashout, because it has a token: some wallets require one, and other cases are about that.
      await trial.cashedOut(slip, '3');
      await trial.open();
      const recorded = await trial.unsettle(slip, '3', { forgery: foreignSecret });
      trial.refuses(recorded, BAD_SIGNATURE, 'warn');
      await trial.movedNothing('an unsettle with a wrong signature');
    },
  },
  {
    id: 'signature-foreign-update',
    title: 'An update signed with another secret is refused',
    expected: '400 with code 1',
    advice: VERIFY,
    run: async (trial) => {
      const recorded = await trial.update(await trial.placed(), '9', { forgery: foreignSecret });
      trial.refuses(recorded, BAD_SIGNATURE, 'warn');
    },
  },
];

const usual = { rule: RULES.signature, money: true, meaning: 'lets_somebody_in' } as const;

export const signatureCases: readonly Case[] = group('signatures', usual, [
  {
    id: 'signature-good',
    title: 'A good signature is accepted',
    expected: 'a balance and a place, signed as the gateway signs, are accepted',
    meaning: 'costs_money',
    advice: 'Verify the header x-sign-jws; do not ask for the older x-sign beside it.',
    run: async (trial) => {
      trial.accepts(await trial.balance());
      trial.accepts(await trial.place(trial.slip()));
    },
  },
  ...FORGED,
  {
    id: 'signature-header-order',
    title: 'The members of the signature header may come in any order',
    rule: RULES.headerOrder,
    expected: 'a place signed with typ before alg is accepted',
    meaning: 'absorbed',
    advice: 'Parse the JWS header as JSON; do not compare it as text.',
    run: (trial) => {
      const forgery = typeFirst(trial.context.secret);
      return oddButGood(trial, () => ({ forgery }), 'a header with typ first');
    },
  },
  {
    id: 'signature-whitespace',
    title: 'The signature is over the bytes, whitespace included',
    expected: 'a place with spaces and line breaks between its members is accepted',
    meaning: 'absorbed',
    advice: 'Verify over the raw bytes of the body; do not serialise the parsed JSON again.',
    run: (trial) => oddButGood(trial, spaced, 'a body with spaces'),
  },
  {
    id: 'signature-unicode',
    title: 'The signature is over UTF-8',
    expected: 'a place whose texts are in several scripts, some escaped, is accepted',
    meaning: 'costs_money',
    advice:
      'Verify over the raw bytes of the body: serialised again, names of teams and players come ' +
      'out otherwise, and their bets are refused.',
    run: async (trial) => {
      const more = { info: '"Zürich – 東京 \\u0434\\u0430 🎲"' };
      if (trial.accepts(await trial.place(trial.slip(), { more }))) {
        await trial.moved('-1', 'the place');
      }
    },
  },
]);
