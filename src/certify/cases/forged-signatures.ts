import { randomUUID } from 'node:crypto';
import { type BetSlip, placeBody } from '../../protocol/callback-bodies.ts';
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
import type { RecordedCall } from '../calls/recorded-call.ts';
import type { CaseText } from '../case.ts';
import type { Trial } from '../trial/trial.ts';

/** Code 1; the gateway never signs wrongly, so the form of this refusal hardly matters. */
const BAD_SIGNATURE = [1];

const VERIFY =
  'Compute HMAC-SHA256 over the JWS header, a dot and the base64url of the raw body, compare it in ' +
  'constant time, and answer 400 with code 1 where it differs, before anything else is looked at.';

async function refusesBalance(trial: Trial, forgery: ForgedRequest): Promise<void> {
  trial.refuses(await trial.balance({}, { forgery }), BAD_SIGNATURE, 'warn');
}

async function refusesPlace(trial: Trial, forgery: ForgedRequest): Promise<void> {
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

/** A case about a place that is forged like this. */
function forgedPlace(id: string, title: string, forgery: ForgedRequest, advice = VERIFY): CaseText {
  const run = (trial: Trial) => refusesPlace(trial, forgery);
  return { id, title, expected: '400 with code 1, nothing debited', advice, run };
}

/** A case about an operation on a placed bet, signed with another secret. @param net what the case has moved */
function foreign(
  operation: string,
  title: string,
  expected: string,
  send: (trial: Trial, slip: BetSlip) => Promise<RecordedCall>,
  net = '-1',
): CaseText {
  return {
    id: `signature-foreign-${operation}`,
    title,
    expected,
    advice: VERIFY,
    run: async (trial) => {
      const slip = await trial.placed();
      trial.refuses(await send(trial, slip), BAD_SIGNATURE, 'warn');
      await trial.moved(net, `a wrongly signed ${operation}`);
    },
  };
}

const FOREIGN = { forgery: foreignSecret };
const WHOLE_CODE = `${VERIFY} Compare all 32 bytes, also where fewer were sent.`;

/** Calls that the wallet must refuse, because nobody with its secret has signed them. */
export const FORGED_CASES: readonly CaseText[] = [
  {
    id: 'signature-foreign-balance',
    title: 'A balance signed with another secret is refused',
    expected: '400 with code 1',
    advice: VERIFY,
    run: (trial) => refusesBalance(trial, foreignSecret),
  },
  {
    id: 'signature-missing-balance',
    title: 'A balance without a signature is refused',
    expected: '400 with code 1',
    advice: VERIFY,
    run: (trial) => refusesBalance(trial, unsigned),
  },
  {
    id: 'signature-foreign-profile',
    title: 'A profile signed with another secret is refused',
    expected: '400 with code 1',
    money: false,
    advice: VERIFY,
    run: async (trial) => {
      trial.refuses(await trial.profile(undefined, FOREIGN), BAD_SIGNATURE, 'warn');
    },
  },
  forgedPlace(
    'signature-foreign-place',
    'A place signed with another secret is refused',
    foreignSecret,
  ),
  forgedPlace('signature-missing-place', 'A place without a signature is refused', unsigned),
  forgedPlace(
    'signature-tampered-place',
    'A signature with one character changed is refused',
    changedSignature,
  ),
  forgedPlace(
    'signature-tampered-end',
    'A signature that is right but for its end is refused',
    changedEnd,
    `${VERIFY} Compare all 32 bytes: of a beginning anybody finds the next character by trying.`,
  ),
  forgedPlace(
    'signature-shortened',
    'The first half of a right signature is refused',
    shortened,
    WHOLE_CODE,
  ),
  {
    id: 'signature-no-algorithm',
    title: 'A header that asks for no algorithm is refused',
    expected: '400 with code 1, nothing debited',
    advice: 'Take HS256 and no other algorithm, whatever the header asks for (RFC 8725, 3.1).',
    run: async (trial) => {
      await Promise.all(NO_ALGORITHMS.map((name) => refusesPlace(trial, noAlgorithm(name))));
    },
  },
  forgedPlace(
    'signature-empty',
    'A header with no signature behind it is refused',
    emptySignature,
    WHOLE_CODE,
  ),
  {
    id: 'signature-unset-secret',
    title: 'A secret that was never set signs nothing',
    expected: `400 with code 1 to a balance signed with no text at all, or with ${UNSET_SECRETS.slice(1).join(', ')}`,
    advice:
      'Refuse to start without a secret, and take no empty one beside it, such as the place of ' +
      'the next one during a rotation.',
    run: async (trial) => {
      for (const secret of UNSET_SECRETS) {
        if (secret !== trial.context.secret) await refusesBalance(trial, unsetSecret(secret));
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
  foreign(
    'settle',
    'A settle signed with another secret is refused',
    '400 with code 1, nothing paid',
    (trial, slip) => trial.won(slip, '3', FOREIGN),
  ),
  foreign(
    'rollback',
    'A rollback signed with another secret is refused',
    '400 with code 1, nothing refunded',
    (trial, slip) => trial.rollback(slip, 50, FOREIGN),
  ),
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
  foreign(
    'unsettle',
    'An unsettle signed with another secret is refused',
    '400 with code 1, nothing taken back',
    async (trial, slip) => {
      // A cashout, because it has a token: some wallets require one, and other cases are about that.
      await trial.cashedOut(slip, '3');
      await trial.open();
      return await trial.unsettle(slip, '3', FOREIGN);
    },
    '0',
  ),
  foreign(
    'update',
    'An update signed with another secret is refused',
    '400 with code 1',
    (trial, slip) => trial.update(slip, '9', FOREIGN),
  ),
];
