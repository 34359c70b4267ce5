import { randomUUID } from 'node:crypto';
import { placeBody } from '../../protocol/callback-bodies.ts';
import { jsonString } from '../../protocol/json.ts';
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
  UNSET_SECRETS,
  unsetSecret,
  unsigned,
} from '../calls/forged-requests.ts';
import type { CaseText } from '../case.ts';
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

/** Calls that the wallet must refuse, because nobody with its secret has signed them. */
export const FORGED_CASES: readonly CaseText[] = [
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
