import { describe, expect, it } from 'vitest';
import { answerText, errorText, messageText, personalText } from '../../src/admin/personal.ts';
import { PERSON_ROLES } from '../../src/domain/caller.ts';

const KNOW_PEOPLE = ['support', 'admin'] as const;
const DO_NOT = PERSON_ROLES.filter((role) => !KNOW_PEOPLE.some((knows) => knows === role));

const body = (members: Readonly<Record<string, unknown>> = {}) =>
  Buffer.from(
    JSON.stringify({
      ...{ requestId: 'r', type: 1, transactionId: 't', amount: 12.1, currency: 'USD' },
      ...{ token: 'a-token-of-a-session', userId: 'jane', ip: '192.0.2.7', info: 'for Jane Doe' },
      ...members,
    }),
  );

describe('personal data of players', () => {
  it.each(KNOW_PEOPLE)('is shown to %s unchanged, except for the token', (role) => {
    const text = messageText(
      { role },
      Buffer.from('{"userId":"jane","token":"t1","amount":12.10}'),
    );
    expect(text).toBe('{"userId":"jane","token":"***","amount":12.10}');
    expect(personalText({ role }, 'jane')).toBe('jane');
  });

  it.each(DO_NOT)('is hidden from %s, while the money stays exact', (role) => {
    const text = messageText(
      { role },
      Buffer.from('{"userId":"jane","token":"t1","amount":12.10}'),
    );
    expect(text).toBe('{"userId":"***","token":"***","amount":12.10}');
    expect(messageText({ role }, body())).not.toMatch(/jane|Jane|192\.0\.2\.7|a-token/);
    expect(personalText({ role }, 'jane')).toBe('***');
  });

  it.each(PERSON_ROLES)('is read in a wallet’s own words by who may: %s', (role) => {
    const mayRead = KNOW_PEOPLE.some((knows) => knows === role);
    const error = '400 code 9: Jane Doe is blocked:\nsee jane';
    expect(errorText({ role }, error)).toBe(mayRead ? error : '400 code 9: ***');
    // The gateway's own words name nobody.
    for (const own of ['no answer within 3996 ms', 'HTTP status 503', null]) {
      expect(errorText({ role }, own)).toBe(own);
    }
  });

  it.each(DO_NOT)('is recognised in a member that nobody has thought of: %s', (role) => {
    const text = messageText({ role }, body({ nickname: 'jj', userId2: { name: 'Doe' } }));
    expect(text).not.toMatch(/jj|Doe/);
  });

  it.each(DO_NOT)('does not come out of a message that cannot be read: %s', (role) => {
    expect(messageText({ role }, Buffer.from('jane'))).toBe('***');
  });

  it('in the answer of a wallet is hidden whole where it broke off', () => {
    const body = '{"code":5,"message":"no Jane here"';
    expect(answerText({ role: 'viewer' }, `${body}}`)).toBe('{"code":5,"message":"***"}');
    expect(answerText({ role: 'finance' }, body)).toBe('***');
    expect(answerText({ role: 'support' }, body)).toBe(body);
  });

  it('is null for an unknown player, with nothing to hide', () => {
    expect(personalText({ role: 'viewer' }, null)).toBeNull();
  });
});
