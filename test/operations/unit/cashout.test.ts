import { describe, expect, it } from 'vitest';
import type { Bet } from '../../../src/domain/bet.ts';
import { settle } from '../../../src/operations/settle.ts';
import { failure } from '../../../src/protocol/answers.ts';
import type { Session } from '../../../src/sessions/session.ts';
import type { RecordedOperation } from '../../../src/store/bets/journal.ts';
import { BETS, body } from '../../protocol/support/bet-messages.ts';
import {
  betScene,
  NO_ANSWER,
  PLACED,
  PLAYER,
  type Scene,
  SETTLED_BET,
  STORED,
  UNAVAILABLE,
  waiting,
} from '../support/bet-scene.ts';

const CASHOUT = { resultType: '"cashout"', token: '"theirs"' };
const SESSION: Session = {
  ...{ sessionId: '8', owner: PLAYER, operatorToken: 'own' },
  ...{ currency: 'EUR', expiresAtMs: 0 },
};
const OTHERS: Session = {
  ...SESSION,
  owner: { ...PLAYER, playerId: '2' },
  operatorToken: 'others',
};
const LIVE = { theirs: { kind: 'live', session: SESSION } } as const;
const INVALID = failure(3, 'Invalid token');
const OUT_OF_DATE = failure(4, 'Token out of date');

/** A cashout with the token `theirs`. */
const cashingOut = (scene: Scene = {}) => betScene('settle', { members: CASHOUT, ...scene });
const tokenSent = ({ calls }: ReturnType<typeof cashingOut>): unknown =>
  calls.map((call) => JSON.parse(call.body).token);

describe('a cashout', () => {
  it('goes out with the operator’s token of the session that asks, in whatever currency', async () => {
    const scene = cashingOut({ sessions: LIVE });
    expect(await settle(scene.callback)).toMatchObject({ outcome: 'accepted' });
    expect(scene.sessions.findCertain.mock.calls).toEqual([['theirs']]);
    expect(tokenSent(scene)).toEqual(['own']);
  });

  it.each([
    ['stands for nobody', {}, INVALID],
    ['is of another player', { theirs: { kind: 'live', session: OTHERS } }, INVALID],
    ['is another player’s of old', { theirs: { kind: 'expired', session: OTHERS } }, INVALID],
    ['has expired', { theirs: { kind: 'expired', session: SESSION } }, OUT_OF_DATE],
    ['was revoked', { theirs: { kind: 'ended', reason: 'revoked', session: SESSION } }, INVALID],
    [
      'has another currency by now',
      { theirs: { kind: 'ended', reason: 'currency', session: SESSION } },
      OUT_OF_DATE,
    ],
  ] as const)('is refused where its token %s, and not sent', async (_, sessions, answer) => {
    const scene = cashingOut({ sessions });
    expect(await settle(scene.callback)).toMatchObject({
      ...{ answer, outcome: 'invalid', operatorId: 'alpha' },
      detail: { code: answer === INVALID ? 3 : 4 },
    });
    expect(scene.steps).toEqual(['find', 'refusal']);
  });

  it('has its refusal recorded before it is answered (I3)', async () => {
    const scene = cashingOut({ members: { ...CASHOUT, requestId: '"r1"' } });
    await settle(scene.callback);
    const attemptId = expect.stringMatching(/^[0-9a-f-]{36}$/);
    const record = { operation: 'settle', attemptId, requestId: 'r1', body: STORED };
    expect(scene.bets.recordRefusal.mock.calls).toEqual([
      [PLACED, { ...record, answer: INVALID }, scene.deadline],
    ]);
  });

  it('is decided again if the bet has moved: a copy may be at the wallet by now (I5)', async () => {
    const scene = cashingOut({
      members: { ...CASHOUT, amount: '12.1' },
      looks: [PLACED, { ...PLACED, rollback: { kind: 'promised', transactionTime: 'then' } }],
    });
    scene.bets.recordRefusal.mockResolvedValueOnce(false);
    expect(await settle(scene.callback)).toMatchObject({ outcome: 'conflict' });
  });

  it('is not refused any more when its time is over (I11)', async () => {
    const scene = cashingOut({ spentMs: 4_750 });
    await expect(settle(scene.callback)).rejects.toThrow(
      expect.objectContaining({ name: 'OutOfTime' }),
    );
    expect(scene.bets.recordRefusal).not.toHaveBeenCalled();
  });

  it('is never promised: its player waits for the wallet’s own answer', async () => {
    const scene = cashingOut({ sessions: LIVE, onFailure: 'queue', sent: NO_ANSWER });
    expect(await settle(scene.callback)).toMatchObject({ answer: UNAVAILABLE, outcome: 'unknown' });
    expect(scene.outcomes).toMatchObject([{ delivery: { kind: 'none' } }]);
  });

  it('needs no token where it is paid already: it is answered as before (I5)', async () => {
    const settlement = { ...SETTLED_BET.settlement, resultType: 'cashout' } as Bet['settlement'];
    const scene = cashingOut({ looks: [{ ...SETTLED_BET, settlement }] });
    expect(await settle(scene.callback)).toMatchObject({ outcome: 'duplicate' });
  });
});

describe('a cashout behind promises that wait', () => {
  const looks = [{ ...PLACED, deliveries: [waiting({ attempts: 1 })] }];

  it('is 503, because it cannot wait behind them (I6)', async () => {
    const scene = cashingOut({ looks, sessions: LIVE });
    expect(await settle(scene.callback)).toEqual({
      answer: UNAVAILABLE,
      outcome: 'not_sent',
      operatorId: 'alpha',
      detail: { reason: 'settle_waiting' },
    });
    expect(scene.steps).toEqual(['find']);
  });
});

describe('a cashout whose first try got no answer', () => {
  const attempted = { kind: 'settle', amount: '12.10', resultType: 'cashout' } as const;
  const unknown: Bet = { ...PLACED, settlement: { kind: 'unknown', attempted }, version: 3 };
  const first: RecordedOperation = {
    ...{ id: '1', operation: 'settle', attemptId: 'a1', requestId: 'r1' },
    body: body({ ...BETS.settle.members, resultType: '"cashout"', token: '"as kept"' }),
    ...{ answer: UNAVAILABLE, wasSent: true, isConcluded: false, isRefused: false },
  };
  const again = (scene: Scene) => cashingOut({ looks: [unknown], recorded: [first], ...scene });

  it('is sent again with the token of the first, whose session may have ended since (I5)', async () => {
    const sessions = { 'as kept': { kind: 'expired', session: SESSION } } as const;
    const scene = again({ sessions });
    expect(await settle(scene.callback)).toMatchObject({ outcome: 'accepted' });
    expect(tokenSent(scene)).toEqual(['own']);
    expect(scene.sessions.findKept.mock.calls).toEqual([['as kept']]);
    expect(scene.sessions.findCertain).not.toHaveBeenCalled();
  });

  it.each([
    ['is nobody’s', {}],
    ['is another player’s', { 'as kept': { kind: 'live', session: OTHERS } }],
  ] as const)('needs a live token of its own where the first %s', async (_, kept) => {
    const refused = again({ sessions: kept });
    expect(await settle(refused.callback)).toMatchObject({ answer: INVALID });
    const own = again({ sessions: { ...kept, ...LIVE } });
    expect(await settle(own.callback)).toMatchObject({ outcome: 'accepted' });
    expect(tokenSent(own)).toEqual(['own']);
  });
});
