import { describe, expect, it } from 'vitest';
import type { RecordedCall } from '../../../src/certify/calls/recorded-call.ts';
import { Redaction } from '../../../src/certify/calls/redact.ts';
import { partly } from '../../support/partly.ts';

const PROFILE =
  '{"userId":"ann","customFields":{"name":"Ann Smith","born":"1999-01-02"},"amount":1.50}';

/** A recorded profile with these headers and this answer. */
function recorded(headers: Readonly<Record<string, string>>, answer = PROFILE): RecordedCall {
  return partly<RecordedCall>({
    ...{ operation: 'profile', ms: 12.6, atMs: 0 },
    request: { method: 'POST', path: '/user/profile', headers, body: Buffer.from('{}') },
    exchange: { kind: 'response', status: 200, body: Buffer.from(answer) },
  });
}

const redaction = new Redaction(
  ['token-of-ann', 'token-of-ann-and-more'],
  'a secret of the wallet',
);

describe('what a certificate shows of a call', () => {
  it('includes only the usual headers: others may contain keys, and signatures are recomputed', () => {
    const { request } = redaction.shown(
      'https://wallet.example',
      recorded({
        'content-type': 'application/json',
        'x-request-id': 'for token-of-ann',
        'x-sign-jws': 'a..b',
        'x-sign': 'a..b',
        authorization: 'Basic unknown to us',
      }),
    );
    expect(request).toMatchObject({
      url: 'https://wallet.example/user/profile',
      headers: {
        'content-type': 'application/json',
        'x-request-id': 'for ***',
        authorization: '***',
      },
    });
    expect(Object.keys(request.headers)).toHaveLength(3);
  });

  it('names no person: of a profile all that is not needed to judge it is left out', () => {
    const answer = '{"userId":"ann","customFields":"***","amount":1.50}';
    expect(redaction.shown('', recorded({})).answer).toMatchObject({ body: answer });
    expect(redaction.seen(recorded({}))).toMatchObject({ answer, ms: 13 });
  });

  it('is as much of an answer as people read, with a note if there was more', () => {
    const long = 'x'.repeat(4_000);
    expect(redaction.seen(recorded({}, long)).answer).toBe(`${'x'.repeat(300)}…`);
    expect(redaction.shown('', recorded({}, long)).answer).toMatchObject({ truncated: false });
    const { answer } = redaction.shown('', recorded({}, `${long}y`));
    expect(answer).toMatchObject({ body: long, truncated: true });
    expect(redaction.seen(recorded({}, 'x'.repeat(300))).answer).toBe('x'.repeat(300));
  });

  it('hides all of a longer word that begins with a shorter one', () => {
    expect(redaction.text('token-of-ann-and-more, token-of-ann')).toBe('***, ***');
  });
});
