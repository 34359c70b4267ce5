import { expect, it } from 'vitest';
import type { Session } from '../../src/sessions/session.ts';
import { tokenRefusal } from '../../src/sessions/session.ts';

const session: Session = {
  sessionId: '1',
  owner: { operatorId: 'alpha', playerId: '1', userId: 'u', operatorUser: 'ann' },
  currency: 'USD',
  operatorToken: 'anns-own-token',
  expiresAtMs: 0,
};

it.each([
  ['unknown', { kind: 'unknown' } as const, 3],
  ['revoked', { kind: 'ended', reason: 'revoked', session } as const, 3],
  ['expired', { kind: 'expired', session } as const, 4],
  ['ended by a change of currency', { kind: 'ended', reason: 'currency', session } as const, 4],
])('a token that is %s is refused by its code', (_, lookup, code) => {
  expect(tokenRefusal(lookup)).toBe(code);
});
