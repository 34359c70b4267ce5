import { describe, expect, it } from 'vitest';
import { betToken } from '../../src/sessions/bet-token.ts';
import { TokenVault } from '../../src/sessions/token-vault.ts';
import { noRow, statement } from '../../src/store/sql/statement.ts';
import {
  accelerator,
  base64Key,
  database,
  KEY,
  open,
  openIn,
  owner,
  replica,
  revokeAll,
  useReplicas,
} from './support/replicas.ts';

useReplicas();

describe('ENCRYPTION_KEY set after some sessions were opened without it', () => {
  it('goes on giving those, and their operator tokens', async () => {
    const before = await open(replica('no key'));
    const after = await open(replica(`${KEY},plain`));
    expect(after.token).toBe(before.token);
    expect(after.session.operatorToken).toBe('anns-own-token');
    expect(await replica(`${KEY},plain`).findCertain(before.token)).toMatchObject({
      session: { operatorToken: 'anns-own-token' },
    });
    await revokeAll(replica(KEY));
    const next = await open(replica(KEY));
    expect((await open(replica(KEY))).token).toBe(next.token);
  });
});

describe('ENCRYPTION_KEY that is being rotated', () => {
  const [OLD, NEW] = [`old:${KEY}`, `new:${base64Key(8)}`];

  it('gives a live session again, whichever key it was opened under, at every replica', async () => {
    const { token } = await open(replica(OLD));
    for (const keys of [`${OLD},${NEW}`, `${NEW},${OLD}`, OLD]) {
      expect((await open(replica(keys))).token).toBe(token);
      expect(await replica(keys).findCertain(token)).toMatchObject({
        session: { operatorToken: 'anns-own-token' },
      });
    }
  });

  it('goes without the operator’s token where it cannot be opened, and says so', async () => {
    const { token, session } = await open(replica(OLD));
    const sessions = replica(NEW);
    expect(await sessions.operatorTokenOf(session.sessionId)).toBeUndefined();
    expect(
      await betToken(sessions, { sessionId: session.sessionId, owner }, token),
    ).toBeUndefined();
    const reference = sessions.referenceOf(token);
    expect(await betToken(sessions, { sessionId: undefined, owner }, reference)).toBeUndefined();
    expect(await replica(OLD).operatorTokenOf(session.sessionId)).toBe('anns-own-token');
  });

  it('asks PostgreSQL where Redis holds what another key has sealed', async () => {
    const { token } = await open(replica(OLD));
    await replica(OLD).find(token);
    await expect(replica(NEW).find(token)).rejects.toMatchObject({ code: 'TOKEN_UNOPENABLE' });
    expect(await replica(`${NEW},${OLD}`).find(token)).toMatchObject({ kind: 'live' });
  });

  it('never takes the token of one session for another’s, though both are in the table (I8)', async () => {
    const one = await open(replica(OLD));
    const other = await openIn(replica(OLD), 'EUR', 'anns-other-token');
    const swap = statement(
      'test-swap',
      {
        to: ['bigint', () => one.session.sessionId],
        from: ['bigint', () => other.session.sessionId],
      },
      `UPDATE sessions SET operator_token = (SELECT operator_token FROM sessions WHERE id = :from)
        WHERE id = :to`,
      noRow,
    );
    await database.run(swap, undefined);
    expect(await replica(OLD).operatorTokenOf(one.session.sessionId)).toBeUndefined();
    expect(await replica(OLD).operatorTokenOf(other.session.sessionId)).toBe('anns-other-token');
  });
});

describe('what Redis holds of a session', () => {
  const keyOf = (token: string) =>
    `session:${new TokenVault(undefined).hash(token).toString('base64url')}`;

  async function cached(): Promise<{ token: string; text: string }> {
    const { token } = await open(replica());
    // A Redis that a busy machine has slowed down is left alone for a second.
    const text = async () => {
      await replica().find(token);
      return (await accelerator.get(keyOf(token))) ?? '';
    };
    await expect.poll(text).not.toBe('');
    return { token, text: await text() };
  }

  it.each([
    ['nothing', ''],
    ['half of it', '{"sessionId":"1","oper'],
    ['no object', '17'],
    ['another program’s', '{"hello":"world"}'],
    ['a list of lists', '[[[]]]'],
  ])('is a miss where it is %s: PostgreSQL is asked', async (_what, text) => {
    const { token } = await cached();
    await accelerator.set(keyOf(token), text, 60_000);
    expect(await replica().find(token)).toMatchObject({ kind: 'live', session: { owner } });
  });

  it('is a miss where anything of it was changed, such as whose it is (I8)', async () => {
    const { token, text } = await cached();
    const entry: Record<string, unknown> = JSON.parse(text);
    for (const name of Object.keys(entry)) {
      const value = typeof entry[name] === 'number' ? Date.now() + 9e6 : 'changed';
      await accelerator.set(keyOf(token), JSON.stringify({ ...entry, [name]: value }), 60_000);
      expect(await replica().find(token)).toMatchObject({ kind: 'live', session: { owner } });
    }
    await accelerator.set(keyOf(token), text, 60_000);
  });
});
