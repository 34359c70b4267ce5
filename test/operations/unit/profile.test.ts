import { describe, expect, it } from 'vitest';
import { GatewayError } from '../../../src/domain/errors.ts';
import { profile } from '../../../src/operations/profile.ts';
import { parseProfile } from '../../../src/protocol/messages.ts';
import type { Session } from '../../../src/sessions/session.ts';
import { body, message } from '../../protocol/support/bet-messages.ts';
import { SESSION } from '../support/place-scene.ts';
import {
  answered,
  BROKEN,
  MAINTENANCE,
  OVER,
  readScene,
  tokenRefused,
} from '../support/read-scene.ts';

/** The rules, with parts that behave as the test says; other files test them over HTTP. */

const ANN = answered('{"userId":"ann","currency":"USD","currencies":["USD"]}');
const away = new GatewayError('DATABASE_UNAVAILABLE', 'away');
type Scene = Parameters<typeof readScene>[0];

async function asked(scene: Scene = {}, changes: Readonly<Record<string, string>> = {}) {
  const parts = readScene({ answer: ANN, ...scene });
  const read = message(parseProfile(body({ token: '"token"', ...changes })));
  return { ...parts, handled: await profile(parts.callbacks, read, parts.deadline) };
}

describe('a profile', () => {
  it('is the wallet’s own words in the service’s terms, with the operator’s in a field (I9)', async () => {
    const { handled, find, note, learn } = await asked({
      answer: answered('{"userId":"ann","currency":"USD","currencies":["USD"],"odd":1.50}'),
    });
    expect(handled).toEqual({
      answer: {
        status: 200,
        body:
          '{"userId":"1999","currency":"USD","currencies":["USD"],"odd":1.50,' +
          '"customFields":{"operatorUser":"ann"}}',
      },
      ...{ outcome: 'accepted', operatorId: 'alpha', detail: { walletMs: 7 } },
    });
    expect(find.mock.calls).toEqual([['token']]);
    expect(note.mock.calls).toEqual([['profile', 'token', 'alpha']]);
    expect(learn).not.toHaveBeenCalled();
  });

  it('names the members that it repairs, and loses nothing else of the wallet’s words', async () => {
    const text =
      '{"userId":"ann","currencies":null,"isTest":"no","currency":"USD","customFields":[1]}';
    const { handled, repaired } = await asked({ answer: answered(text) });
    expect(handled.answer.body).toBe(
      '{"userId":"1999","currencies":["USD"],"currency":"USD","customFields":{"operatorUser":"ann"}}',
    );
    expect(repaired.mock.calls).toEqual([['alpha', ['currencies', 'isTest', 'customFields']]]);
  });

  it('is refused with code 5 where the operator’s file does not list its currency', async () => {
    const { handled } = await asked({ currencies: ['EUR'] });
    const why = "currency: is not one of the operator's";
    expect(handled.answer).toEqual({ status: 400, body: `{"code":5,"message":"${why}"}` });
    expect(handled).toMatchObject({ outcome: 'invalid', operatorId: 'alpha' });
  });

  it('is asked for in the operator’s terms, by the service’s own request (I9)', async () => {
    const { calls, deadline } = await asked({}, { requestId: '"r1"', odd: '1.50' });
    expect(calls).toEqual([
      {
        ...{ operation: 'profile', requestId: 'r1', deadline, whyBroken: expect.any(Function) },
        body: '{"token":"token-of-alpha","requestId":"r1","odd":1.50}',
      },
    ]);
    const named = await asked({}, { userId: '"1999"', currency: '"USD"' });
    expect(named.calls[0]?.body).toBe('{"token":"token-of-alpha","userId":"ann","currency":"USD"}');
    expect(named.calls[0]?.requestId).toMatch(/^[0-9a-f-]{36}$/);
  });

  it.each(OVER)('is refused by a token that %s', async (_, lookup, code, operatorId) => {
    const { handled, calls } = await asked({ lookup });
    expect(handled).toEqual(tokenRefused(code, operatorId));
    expect(calls).toEqual([]);
  });

  it.each([{ userId: '"2000"' }, { currency: '"EUR"' }])(
    'is refused if it names another player or currency than the token’s: %o (I8)',
    async (changes) => {
      const { handled, calls, note } = await asked({}, changes);
      expect(handled).toEqual(tokenRefused(3, 'alpha'));
      expect([calls, note.mock.calls]).toEqual([[], []]);
    },
  );

  it('is refused without a look at its session while refusals come in floods (I7)', async () => {
    const limited = { answer: { status: 503, body: '' }, outcome: 'not_sent' } as const;
    const { handled, find, limit } = await asked({ limited: { ...limited, operatorId: 'alpha' } });
    expect(handled).toEqual({ ...limited, operatorId: 'alpha' });
    expect(limit.mock.calls).toEqual([['profile', 'token']]);
    expect(find).not.toHaveBeenCalled();
  });

  it('is 503 and counted where the operator’s file is gone, and remembered as such', async () => {
    const { handled, rejected, note } = await asked({ hasNoWallet: true });
    expect(handled).toEqual(MAINTENANCE);
    expect(rejected.mock.calls).toEqual([[{ operator: 'alpha', reason: 'maintenance' }]]);
    expect(note).toHaveBeenCalledOnce();
  });

  it.each([
    ['names no player', '{"currency":"USD"}', /no userId/],
    ['names no currency', '{"userId":"ann"}', /no currency/],
    ['names a player by a number', '{"userId":5,"currency":"USD"}', /no userId/],
    ['names what cannot be a player', '{"userId":"ann smith","currency":"USD"}', /A-Za-z0-9/],
    [
      'names another player than the session’s',
      '{"userId":"bob","currency":"USD"}',
      /session's player/,
    ],
  ])('is 503, and logged with the reason, if the wallet’s answer %s (I8)', async (_, text, why) => {
    const { handled, warn, endForCurrency } = await asked({ answer: answered(text) });
    expect(handled).toEqual(BROKEN);
    // The reason quotes nothing: what a wallet says about a player must not be logged.
    const note = expect.stringMatching(why);
    expect(warn.mock.calls).toEqual([[{ operator: 'alpha', note }, 'profile.broken_answer']]);
    expect(endForCurrency).not.toHaveBeenCalled();
  });

  it('ends its session where the wallet speaks of another currency: out of date', async () => {
    const { handled, endForCurrency } = await asked({
      answer: answered('{"userId":"ann","currency":"EUR"}'),
    });
    expect(handled).toEqual({ ...tokenRefused(4, 'alpha'), outcome: 'declined' });
    expect(endForCurrency.mock.calls).toEqual([['token', SESSION]]);
  });
});

describe('a profile by a prefixed token', () => {
  const PREFIXED = { sessions: { mode: 'prefixed', ttlSeconds: 100 } } as const;
  const TOKEN = { token: '"alpha.own.token"' };
  const unknown = { lookup: { kind: 'unknown' }, ...PREFIXED } as const;
  const prefixed = (scene: Scene = {}, changes: Readonly<Record<string, string>> = {}) =>
    asked({ ...unknown, ...scene }, { ...TOKEN, ...changes });

  it('never seen opens a session as the wallet says, which gets its own token', async () => {
    const { handled, calls, ensure, learn, note } = await prefixed();
    expect(handled).toMatchObject({ outcome: 'accepted', operatorId: 'alpha' });
    expect(JSON.parse(handled.answer.body)).toMatchObject({ userId: '1999' });
    expect(calls[0]?.body).toBe('{"token":"own.token"}');
    expect(ensure.mock.calls).toEqual([['alpha', 'ann']]);
    const { owner } = SESSION;
    const learnt = { owner, currency: 'USD', operatorToken: 'own.token', ttlSeconds: 100 };
    expect(learn.mock.calls).toEqual([['alpha.own.token', learnt]]);
    expect(note.mock.calls).toEqual([['profile', 'alpha.own.token', 'alpha']]);
  });

  it('names no player to the wallet for whom nobody has vouched', async () => {
    const { calls } = await prefixed({}, { userId: '"1999"' });
    expect(calls[0]?.body).toBe('{"token":"own.token","userId":"1999"}');
  });

  it.each<[string, Session, 'live' | 'expired', string]>([
    ['renews what lives', SESSION, 'live', 'token-of-alpha'],
    ['brings back what is out of date', SESSION, 'expired', 'own.token'],
  ])('%s', async (_, session, kind, operatorToken) => {
    const { handled, learn, calls } = await prefixed({ lookup: { kind, session } });
    expect(handled.outcome).toBe('accepted');
    expect(learn.mock.calls[0]?.[1]).toMatchObject({ operatorToken });
    expect(JSON.parse(calls[0]?.body ?? '')).toEqual({ token: operatorToken });
  });

  it('that is out of date still is its player’s alone (I8)', async () => {
    const lookup = { kind: 'expired', session: SESSION } as const;
    const another = await prefixed({
      lookup,
      answer: answered('{"userId":"bob","currency":"USD"}'),
    });
    expect(another.handled).toEqual(BROKEN);
    expect(another.learn).not.toHaveBeenCalled();
    const named = await prefixed({ lookup }, { userId: '"2000"' });
    expect(named.handled).toEqual(tokenRefused(3, 'alpha'));
  });

  it.each(['revoked', 'currency'] as const)('that has ended stays so: %s', async (reason) => {
    const { handled, calls } = await prefixed({
      lookup: { kind: 'ended', reason, session: SESSION },
    });
    expect(handled).toEqual(tokenRefused(reason === 'revoked' ? 3 : 4, 'alpha'));
    expect(calls).toEqual([]);
  });

  it('is 503 where the token belongs to another meanwhile (I8)', async () => {
    expect((await prefixed({ learn: async () => undefined })).handled).toEqual(BROKEN);
  });

  it('is answered while PostgreSQL is away where its session lives: it is only not renewed', async () => {
    const { handled, warn } = await prefixed({
      lookup: { kind: 'live', session: SESSION },
      ensure: () => Promise.reject(away),
    });
    expect(handled.outcome).toBe('accepted');
    const facts = { err: away, operator: 'alpha' };
    expect(warn.mock.calls).toEqual([[facts, 'session.not_renewed']]);
  });
});
