import { expect, it } from 'vitest';
import { storedMessage } from '../../../src/operations/routes.ts';
import type { BetRequest } from '../../../src/protocol/messages.ts';
import type { Sessions } from '../../../src/sessions/sessions.ts';
import { BETS, bet, body, message } from '../../protocol/support/bet-messages.ts';
import { partly } from '../../support/partly.ts';

const sessions = partly<Sessions>({ referenceOf: (token: string) => `hash of "${token}"` });

function stored(operation: BetRequest['operation'], raw: Buffer): Buffer {
  const asked = message(bet(operation));
  return storedMessage(sessions, asked, raw);
}

it('keeps a message with the hash of its token, every other byte as it was sent (I9)', () => {
  const raw = body(BETS.place.members);
  expect(String(stored('place', raw))).toBe(
    String(raw).replace('"5caa4cabce"', '"hash of \\"5caa4cabce\\""'),
  );
});

it('keeps the very bytes of a message without a token', () => {
  const raw = body(BETS.settle.members);
  expect(stored('settle', raw)).toBe(raw);
});
