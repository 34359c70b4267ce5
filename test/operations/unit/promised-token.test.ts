import { describe, expect, it, vi } from 'vitest';
import { GatewayError } from '../../../src/domain/errors.ts';
import { rollback } from '../../../src/operations/rollback.ts';
import { accepted } from '../../../src/protocol/answers.ts';
import { PATIENT_MS } from '../../support/timing.ts';
import { betScene, NOW, PLAYER, type Scene, TRANSACTION } from '../support/bet-scene.ts';

/** The operator's token that goes with a rollback or an update. */

const PROMISED = accepted(TRANSACTION, NOW);

const rollingBack = (scene: Scene = {}) => betScene('rollback', scene);

describe('a promised operation', () => {
  it('has the token that the bet was placed with, where the service sent one or the wallet wants it', async () => {
    const sent = rollingBack({ members: { token: '"theirs"' } });
    await rollback(sent.callback);
    expect(sent.calls[0]?.body).toContain('"token":"token of session 7"');
    const wanted = rollingBack({ dialect: { alwaysSendToken: true } });
    await rollback(wanted.callback);
    expect(wanted.calls[0]?.body).toContain('"token":"token of session 7"');
  });

  it('is promised while its token is looked for, and waits for it before it is sent (I3)', async () => {
    const scene = rollingBack({ members: { token: '"theirs"' } });
    const token = Promise.withResolvers<string>();
    scene.sessions.operatorTokenOf.mockReturnValue(token.promise);
    const answer = rollback(scene.callback);
    await vi.waitFor(() => expect(scene.steps).toContain('commit'), PATIENT_MS);
    expect(scene.calls).toEqual([]);
    token.resolve('found');
    expect(await answer).toMatchObject({ outcome: 'accepted' });
    expect(scene.calls[0]?.body).toContain('"token":"found"');
  });

  it('is promised and not sent where its token cannot be read (I4)', async () => {
    const scene = rollingBack({ members: { token: '"theirs"' } });
    scene.sessions.operatorTokenOf.mockRejectedValue(
      new GatewayError('DATABASE_UNAVAILABLE', 'locked'),
    );
    expect(await rollback(scene.callback)).toMatchObject({
      answer: PROMISED,
      outcome: 'taken_over',
    });
    expect(scene.calls).toEqual([]);
    expect(scene.outcomes).toMatchObject([
      { delivery: { kind: 'after', after: { kind: 'unsent' } }, attempt: { result: 'database' } },
    ]);
  });

  it('has the token of the message’s own session, of a bet that is not known here', async () => {
    const session = {
      ...{ sessionId: '8', owner: PLAYER, currency: 'USD', operatorToken: 'own' },
      expiresAtMs: 0,
    };
    const scene = rollingBack({
      ...{ looks: [undefined], player: PLAYER, members: { token: '"theirs"' } },
      sessions: { theirs: { kind: 'live', session } },
    });
    await rollback(scene.callback);
    expect(scene.calls[0]?.body).toContain('"token":"own"');
  });
});
