import { objectText, placeBody, type RawFields } from '../../protocol/callback-bodies.ts';
import { type Case, group } from '../case.ts';
import { RULES } from '../rules.ts';
import type { Trial } from '../trial/trial.ts';

const OUTCOMES = 20;

/** The payout of a settle is final: neither odds nor booster are applied to it again. */
const EXPRESS: RawFields = {
  ticketType: '"express"',
  boosterCoefficient: '1.2',
  // The odds of the outcomes multiply.
  coefficient: '123456.789',
};
/** The samples print a date in one form, and the protocol names another; no region is null there. */
const LIVE: RawFields = {
  stage: '2',
  eventDate: '"2026-11-20T18:00:00.000Z"',
  tournamentRegionCode: 'null',
};
/** An address of IPv6 does not fit into the 15 characters of IPv4. */
const SPARSE: RawFields = {
  ip: '"2001:0db8:85a3:08d3:1319:8a2e:0370:7344"',
  info: undefined,
  metadata: undefined,
};
const TURBOGAMES: RawFields = { gameType: '"turbogames"' };

const usual = { rule: RULES.kinds, money: true, meaning: 'costs_money' } as const;

export const betKindCases: readonly Case[] = group('shape', usual, [
  {
    id: 'shape-express',
    title: `A boosted express bet of ${OUTCOMES} outcomes is booked like any other`,
    expected: `200 to a place with ticketType express and ${OUTCOMES} entries of metadata; its stake is debited once, its payout paid as it is, and another one rolled back`,
    advice:
      'Take ticketType express, with one entry of metadata for each outcome, in which a region may be null and a date of ' +
      'any form, with an info of any length, and leave room for a coefficient of six digits: the stake is of the whole bet, and the amount of a settle is what is paid, with the booster in it.',
    run: async (trial) => {
      const outcomes = Array.from({ length: OUTCOMES }, (_, at) =>
        outcome({ eventId: `"certify-${at}"`, ...(at % 2 === 0 ? {} : LIVE) }),
      );
      const metadata = `[${outcomes.join(',')}]`;
      const info = `"${Array.from({ length: OUTCOMES }, (_, at) => `Outcome ${at + 1} of ${OUTCOMES}`).join('; ')}"`;
      await livesOn(trial, 'an express bet', EXPRESS, { metadata, info });
    },
  },
  {
    id: 'shape-optional-members',
    title: 'A place without its optional members is booked like any other',
    expected:
      '200 to a place without info and metadata from an IPv6 address; it is debited and paid, and another one rolled back',
    advice:
      'Take a place that has no info and no metadata, and an ip of up to 45 characters: debit by amount alone, and keep ' +
      'the rest only if it is there.',
    run: (trial) => livesOn(trial, 'a bet without optional members', {}, SPARSE),
  },
  {
    id: 'shape-turbogames',
    title: 'A bet on turbogames is booked like any other',
    expected:
      '200 to a place with gameType turbogames; it is debited and paid, and another one rolled back',
    advice: 'Take gameType turbogames like sportsbook: the same stakes, payouts and refunds.',
    run: (trial) => livesOn(trial, 'a bet on turbogames', TURBOGAMES),
  },
]);

/**
 * One bet wins, and another is rolled back.
 * @param common members of all operations @param ofPlace further members of its place
 */
async function livesOn(
  trial: Trial,
  what: string,
  common: RawFields,
  ofPlace: RawFields = {},
): Promise<void> {
  const place = { more: { ...common, ...ofPlace } };
  const [first, second] = [trial.slip({ amount: '2' }), trial.slip({ amount: '2' })];
  if (!trial.accepts(await trial.place(first, place))) return;
  trial.accepts(await trial.place(second, place));
  if (!(await trial.moved('-4', `${what} of 2, twice`))) return;
  const [won, gone] = await Promise.all([
    trial.won(first, '3', { more: common }),
    trial.rollback(second, 50, { more: common }),
  ]);
  trial.accepts(won);
  trial.confirms(gone);
  await trial.moved('1', `${what} of 2 that won 3, beside another rolled back`);
}

/** One entry of metadata. @param changes raw members over those of the published samples */
export function outcome(changes: RawFields): string {
  const body: { readonly metadata?: readonly object[] } = JSON.parse(placeBody(EXAMPLE));
  const raw = Object.entries({ ...body.metadata?.[0] });
  const usual = raw.map(([name, value]) => [name, JSON.stringify(value)]);
  return objectText({ ...Object.fromEntries(usual), ...changes });
}

const EXAMPLE = {
  transactionId: 'example',
  token: 'example',
  userId: 'example',
  currency: 'USD',
  amount: '1',
  coefficient: '1.5',
  bonusId: null,
  bonusTemplateId: null,
};
