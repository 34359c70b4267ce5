import { expect, it } from 'vitest';
import {
  judge,
  mayBeDone,
  saysMissing,
  saysNoPlayer,
} from '../../../src/bonuses/service/answer.ts';

const answered = (status: number, body: string) =>
  judge(
    { kind: 'response', status, contentType: 'application/json', body: Buffer.from(body) },
    'player/bonuses',
  );

it.each([200, 400])('a player whom the service does not know (code %d) has no bonus', (status) => {
  expect(saysNoPlayer(answered(status, '{"code":2,"message":"user not found"}'))).toBe(true);
  expect(saysNoPlayer(answered(status, '{"code":100,"message":"System error"}'))).toBe(false);
});

it('an error with HTTP 200 is no definite refusal: the call may have taken effect', () => {
  const answer = answered(200, '{"code":30,"message":"Template not found"}');
  if (answer.kind === 'answered') throw new Error('taken for a success');
  expect([answer.kind, mayBeDone(answer), saysMissing(answer)]).toEqual(['failed', true, true]);
});

it.each(['100', '10'])('a code that comes as a text (%s) says what it says as a number', (code) => {
  const answer = answered(400, `{"code":"${code}","message":"System error"}`);
  if (answer.kind === 'answered') throw new Error('taken for a success');
  expect([mayBeDone(answer), saysMissing(answer)]).toEqual([true, false]);
});
