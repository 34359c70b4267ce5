import { type BetSlip, placeBody } from '../../protocol/callback-bodies.ts';
import type { Odd } from '../caller.ts';
import { type Case, group } from '../case.ts';
import {
  foreignSecret,
  noAlgorithm,
  otherBody,
  tampered,
  typeFirst,
  unsigned,
} from '../forged-requests.ts';
import type { Trial } from '../trial.ts';
import type { Tamper } from '../wallet-connection.ts';

const RULE = 'docs/protocol.md, Authentication 2; Signing of callbacks';

/** Code 1; the gateway never signs wrongly, so the form of this refusal is a matter of taste. */
const BAD_SIGNATURE = [1];

async function forgedBalance(trial: Trial, tamper: Tamper): Promise<void> {
  trial.refuses(await trial.balance({}, { tamper }), BAD_SIGNATURE, 'warn');
}

async function forgedPlace(trial: Trial, tamper: Tamper): Promise<void> {
  trial.refuses(await trial.place(trial.slip(), { tamper }), BAD_SIGNATURE, 'warn');
  await trial.movedNothing('a place with a wrong signature');
}

/** Well signed in a way that the gateway itself does not use. */
async function oddButGood(trial: Trial, oddOf: (slip: BetSlip) => Odd, why: string) {
  const slip = trial.slip();
  const sighting = await trial.place(slip, oddOf(slip));
  if (sighting.meaning.kind === 'accepted') await trial.moved('-1', 'the place');
  else trial.warn(`${why} was not accepted; the gateway sends compact JSON, signed with alg first`);
}

/** Over several lines, as a person would write it. */
function spaced(slip: BetSlip): string {
  const value: unknown = JSON.parse(placeBody(slip));
  return JSON.stringify(value, undefined, 2);
}

export const signatureCases: readonly Case[] = group('signatures', { rule: RULE, money: true }, [
  {
    id: 'signature-good',
    title: 'A good signature is accepted',
    expected: 'a balance and a place, signed as the gateway signs, are accepted',
    run: async (trial) => {
      trial.accepts(await trial.balance());
      trial.accepts(await trial.place(trial.slip()));
    },
  },
  {
    id: 'signature-foreign-balance',
    title: 'A balance signed with another secret is refused',
    expected: '400 with code 1',
    run: (trial) => forgedBalance(trial, foreignSecret),
  },
  {
    id: 'signature-missing-balance',
    title: 'A balance without a signature is refused',
    expected: '400 with code 1',
    run: (trial) => forgedBalance(trial, unsigned),
  },
  {
    id: 'signature-foreign-profile',
    title: 'A profile signed with another secret is refused',
    expected: '400 with code 1',
    money: false,
    run: async (trial) => {
      const sighting = await trial.profile(undefined, { tamper: foreignSecret });
      trial.refuses(sighting, BAD_SIGNATURE, 'warn');
    },
  },
  {
    id: 'signature-foreign-place',
    title: 'A place signed with another secret is refused',
    expected: '400 with code 1, nothing debited',
    run: (trial) => forgedPlace(trial, foreignSecret),
  },
  {
    id: 'signature-missing-place',
    title: 'A place without a signature is refused',
    expected: '400 with code 1, nothing debited',
    run: (trial) => forgedPlace(trial, unsigned),
  },
  {
    id: 'signature-tampered-place',
    title: 'A signature with one character changed is refused',
    expected: '400 with code 1, nothing debited',
    run: (trial) => forgedPlace(trial, tampered),
  },
  {
    id: 'signature-no-algorithm',
    title: 'A header that asks for no algorithm is refused',
    rule: 'docs/protocol.md, Authentication 3 (HS256); RFC 8725, section 3.1',
    expected: '400 with code 1, nothing debited',
    run: (trial) => forgedPlace(trial, noAlgorithm),
  },
  {
    id: 'signature-other-body',
    title: 'A signature of another body is refused',
    expected: '400 with code 1, nothing debited',
    run: async (trial) => {
      const slip = trial.slip();
      const tamper = otherBody(placeBody({ ...slip, amount: '2' }));
      trial.refuses(await trial.place(slip, { tamper }), BAD_SIGNATURE, 'warn');
      await trial.movedNothing('a place whose body was changed after signing');
    },
  },
  {
    id: 'signature-foreign-settle',
    title: 'A settle signed with another secret is refused',
    expected: '400 with code 1, nothing paid',
    run: async (trial) => {
      const slip = await trial.placed();
      const sighting = await trial.won(slip, '3', { tamper: foreignSecret });
      trial.refuses(sighting, BAD_SIGNATURE, 'warn');
      await trial.moved('-1', 'a settle with a wrong signature');
    },
  },
  {
    id: 'signature-foreign-rollback',
    title: 'A rollback signed with another secret is refused',
    expected: '400 with code 1, nothing refunded',
    run: async (trial) => {
      const slip = await trial.placed();
      const sighting = await trial.rollback(slip, 50, { tamper: foreignSecret });
      trial.refuses(sighting, BAD_SIGNATURE, 'warn');
      await trial.moved('-1', 'a rollback with a wrong signature');
    },
  },
  {
    id: 'signature-header-order',
    title: 'The members of the signature header may come in any order',
    rule: 'docs/protocol.md, Order in the JOSE header',
    expected: 'a place signed with typ before alg is accepted',
    run: (trial) => {
      const tamper = typeFirst(trial.context.secret);
      return oddButGood(trial, () => ({ tamper }), 'a header with typ first');
    },
  },
  {
    id: 'signature-whitespace',
    title: 'The signature is over the bytes, whitespace included',
    rule: 'docs/protocol.md, Signing of callbacks (over the raw body)',
    expected: 'a place with spaces and line breaks between its members is accepted',
    run: (trial) => oddButGood(trial, (slip) => ({ body: spaced(slip) }), 'a body with spaces'),
  },
  {
    id: 'signature-unicode',
    title: 'The signature is over UTF-8',
    expected: 'a place whose texts are in several scripts, some escaped, is accepted',
    run: async (trial) => {
      const more = { info: '"Zürich – 東京 \\u0434\\u0430 🎲"' };
      if (trial.accepts(await trial.place(trial.slip(), { more }))) {
        await trial.moved('-1', 'the place');
      }
    },
  },
]);
