import { describe, expect, it, vi } from 'vitest';
import type { Bet } from '../../../src/domain/bet.ts';
import { Deadline } from '../../../src/domain/deadline.ts';
import type { Callbacks } from '../../../src/operations/callbacks.ts';
import {
  recordedRefusal,
  recordRefusedPlace,
  refusalForToken,
} from '../../../src/operations/refused-place.ts';
import { failure } from '../../../src/protocol/answers.ts';
import type { OperationRecord } from '../../../src/store/bets/commit.ts';
import { FRESH } from '../../domain/support/fresh-bet.ts';
import { BETS, body } from '../../protocol/support/bet-messages.ts';
import { partly } from '../../support/partly.ts';
import { TestClock } from '../../support/test-clock.ts';
import { placeOf, SESSION } from '../support/place-scene.ts';

/** The rules, with parts that behave as the test says; test/money-safety/refused-place tests them over HTTP. */

const STORED = Buffer.from('as it is kept');
const EXPIRED = { kind: 'expired', session: SESSION } as const;
const PREFIXED = placeOf({ token: '"alpha.own-token"' });
const AT = '2026-01-02T03:04:05.000Z';

async function refused({
  message = PREFIXED,
  lookup = EXPIRED as Parameters<typeof refusalForToken>[1],
  found = undefined as Bet | undefined,
  player = SESSION.owner as typeof SESSION.owner | null,
  isWritten = true,
  leftMs = 1_000,
} = {}) {
  const clock = new TestClock();
  const deadline = new Deadline(clock, clock.atMs - 1_000 + leftMs, 1_000, 300);
  const recordRefusal = vi.fn(async (_from: Bet, _record: OperationRecord) => isWritten);
  const wallet = { generation: 3 };
  const operators = new Map([['alpha', { sessions: { mode: 'prefixed' }, wallet }]]);
  const callbacks = partly<Callbacks>({
    configuration: () => ({ operators }),
    bets: { find: async () => found, recordRefusal },
    players: { findByUserId: async () => player ?? undefined },
  });
  const placing = { callbacks, message, stored: STORED, deadline };
  const refusal = await refusalForToken(placing, lookup);
  const handled = recordRefusedPlace(placing, refusal);
  return { handled: await handled.catch((error: unknown) => error), recordRefusal };
}

describe('a place refused for a prefixed token', () => {
  it.each([
    ['expired', EXPIRED, 4],
    ['never seen in a profile', { kind: 'unknown' } as const, 3],
  ])('is on record before it is answered: %s (I3)', async (_, lookup, code) => {
    const { handled, recordRefusal } = await refused({ lookup });
    const answer = expect.objectContaining({ status: 400 });
    expect(handled).toMatchObject({ answer, outcome: 'invalid', detail: { code } });
    const [from, record] = recordRefusal.mock.calls[0] ?? [];
    expect(from).toMatchObject({ version: 0, owner: SESSION.owner, place: { kind: 'unseen' } });
    expect(record).toMatchObject({ operation: 'place', body: STORED, answer: { status: 400 } });
  });

  it.each<[string, Bet, boolean]>([
    ['had begun', FRESH, true],
    ['was placed', { ...FRESH, place: { kind: 'accepted', transactionTime: AT } }, true],
    ['began just then', { ...FRESH, owner: SESSION.owner, place: { kind: 'unseen' } }, false],
  ])('gives way to a copy that found the token alive: it %s (I5)', async (_, bet, isWritten) => {
    const found = { ...bet, owner: SESSION.owner, amount: undefined };
    const { handled } = await refused({ found, isWritten });
    expect(handled).toBe('moved');
  });

  it.each([
    ['it was revoked', { lookup: { kind: 'ended', reason: 'revoked', session: SESSION } as const }],
    ['it was issued', { message: placeOf(), lookup: { kind: 'unknown' } as const }],
    ['nobody knows its player', { lookup: { kind: 'unknown' } as const, player: null }],
    [
      'its player is another operator’s',
      {
        lookup: { kind: 'unknown' } as const,
        player: { ...SESSION.owner, operatorId: 'beta' },
      },
    ],
  ])('is only answered where the token can never live again: %s', async (_, scene) => {
    const { handled, recordRefusal } = await refused(scene);
    expect(handled).toMatchObject({ answer: failure(3, 'Invalid token') });
    expect(recordRefusal).not.toHaveBeenCalled();
  });
});

describe('the refusal of a place that comes again', () => {
  const INVALID = failure(3, 'Invalid token');
  const EARLIER = failure(100, 'System error');
  const placed = (changes = {}) => body({ ...BETS.place.members, ...changes });
  const settled = body({ ...BETS.settle.members, token: '"5caa4cabce"' });

  /** What the journal holds of the bet, and the place that comes now. */
  async function answerTo(
    stored: Buffer,
    recorded: readonly { operation: string; body: Buffer; answer: typeof INVALID }[],
  ) {
    const operationsOf = vi.fn(async () => recorded);
    const callbacks = partly<Callbacks>({ bets: { operationsOf } });
    const placing = { callbacks, message: placeOf(), stored, deadline: partly<Deadline>({}) };
    return await recordedRefusal(placing, FRESH);
  }

  it.each([
    ['the same', {}, {}],
    ['of the same token and sub-partner', { subPartnerId: '"a"' }, { subPartnerId: '"a"' }],
    ['of the same token, with other members', { custom: '1' }, { custom: '2' }],
  ])('is the recorded one where the place is %s', async (_, before, now) => {
    const recorded = [
      { operation: 'settle', body: settled, answer: EARLIER },
      { operation: 'place', body: placed({ token: '"another"' }), answer: EARLIER },
      { operation: 'place', body: placed(before), answer: INVALID },
    ];
    expect(await answerTo(placed(now), recorded)).toBe(INVALID);
  });
});
