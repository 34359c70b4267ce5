import { describe, expect, it } from 'vitest';
import { healthOfService, judge } from '../../../src/bonuses/service/answer.ts';
import {
  OTHERS_FAULTS,
  OWN_SHORTAGES,
  withoutConnection,
} from '../../outbound/support/without-connection.ts';

describe('a call of the bonus API without a connection', () => {
  it.each(OWN_SHORTAGES)(
    'says nothing about the service when this side lacks what it takes (%s, I7)',
    async (code) => {
      const answer = judge(await withoutConnection(code), 'bonus');
      expect(answer).toMatchObject({ kind: 'notSent', reason: 'connection' });
      expect(healthOfService(answer)).toBe('neutral');
    },
  );

  it.each(OTHERS_FAULTS)(
    'counts against the service when nobody answers there (%s)',
    async (code) => {
      expect(healthOfService(judge(await withoutConnection(code), 'bonus'))).toBe('faulty');
    },
  );
});

describe('an answer of the bonus API', () => {
  const answered = (status: number, body: string) =>
    judge(
      { kind: 'response', status, contentType: 'application/json', body: Buffer.from(body) },
      'bonus',
    );

  it.each([
    [200, '{"id":1}', 'healthy'],
    [200, '{"code":32}', 'healthy'],
    [200, '', 'healthy'],
    [400, '{"code":30}', 'healthy'],
    [401, '{}', 'healthy'],
    [404, '<html>', 'healthy'],
    [200, '[]', 'faulty'],
    [408, '{}', 'faulty'],
    [500, '{}', 'faulty'],
  ])('of %d with %s is %s', (status, body, health) => {
    expect(healthOfService(answered(status, body))).toBe(health);
  });

  it('that does not come speaks against the service; a caller whose time is over does not', () => {
    const silent = judge({ kind: 'failed', fault: 'timeout', error: 'no answer' }, 'bonus');
    const late = judge({ kind: 'notSent', reason: 'deadline', error: 'too late' }, 'bonus');
    expect([healthOfService(silent), healthOfService(late)]).toEqual(['faulty', 'neutral']);
  });
});
