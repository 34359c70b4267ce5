import { randomUUID } from 'node:crypto';
import { type BetSlip, placeBody } from '../../protocol/callback-bodies.ts';
import { jsonString } from '../../protocol/json.ts';
import type { Odd } from '../calls/caller.ts';
import { typeFirst } from '../calls/forged-requests.ts';
import { type Case, group } from '../case.ts';
import { RULES } from '../rules.ts';
import type { Trial } from '../trial/trial.ts';
import { outcome } from './bet-kinds.ts';
import { FORGED_CASES } from './forged-signatures.ts';

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
  ...FORGED_CASES,
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
      'out otherwise, and their bets are refused. Where you keep such texts, take all of Unicode (utf8mb4 in MySQL).',
    run: async (trial) => {
      const names = '"Zürich – 東京 \\u0434\\u0430 🎲"';
      const more = { info: names, metadata: `[${outcome({ event: names, outcome: names })}]` };
      if (trial.accepts(await trial.place(trial.slip(), { more }))) {
        await trial.moved('-1', 'the place');
      }
    },
  },
]);
