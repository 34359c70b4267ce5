import { describe, expect, it } from 'vitest';
import {
  type AttemptFacts,
  bearingOf,
  courseOf,
  isOpenResult,
  type OperationFacts,
} from '../../src/domain/course.ts';

const attempt = (changes: Partial<AttemptFacts> = {}): AttemptFacts => ({
  ...{ result: 'timeout', code: undefined, sent: true, confirmed: false, answerStatus: undefined },
  ...changes,
});
const REFUSED_CONNECTION = attempt({ result: 'connection', sent: false });
const REFUSAL = attempt({ result: 'declined', code: 20 });
const told = (facts: Partial<OperationFacts>) =>
  courseOf({ answerStatus: 200, attempts: [], deliveries: [], ...facts });
const sent = (facts: Partial<OperationFacts>) => told(facts).wasSent;
const concluded = (facts: Partial<OperationFacts>) => told(facts).isConcluded;

describe('an operation on record may have been seen by a wallet (I5)', () => {
  it('if a byte of one of its attempts has left', () => {
    expect(sent({ attempts: [REFUSED_CONNECTION, attempt()] })).toBe(true);
    expect(sent({ attempts: [REFUSED_CONNECTION] })).toBe(false);
    expect(sent({ attempts: [REFUSED_CONNECTION], answerStatus: undefined })).toBe(false);
  });

  it('if it is a delivery, unless that was superseded before an attempt', () => {
    expect(sent({ deliveries: [{ state: 'pending', attempts: 0 }] })).toBe(true);
    expect(sent({ deliveries: [{ state: 'superseded', attempts: 1 }] })).toBe(true);
    expect(sent({ deliveries: [{ state: 'superseded', attempts: 0 }] })).toBe(false);
  });

  it('if it has no attempt on record and no answer, or 503: its outcome may be lost', () => {
    expect(sent({ answerStatus: undefined })).toBe(true);
    expect(sent({ answerStatus: 503 })).toBe(true);
    expect(sent({ answerStatus: 200 })).toBe(false);
    expect(sent({ answerStatus: 400 })).toBe(false);
    const deliveries = [{ state: 'superseded', attempts: 0 }];
    expect(sent({ answerStatus: 503, deliveries })).toBe(false);
    expect(sent({ answerStatus: undefined, deliveries })).toBe(true);
  });
});

describe('an operation on record is concluded', () => {
  it('if the wallet accepted it and the bet stands by that', () => {
    const accepted = attempt({ result: 'accepted' });
    expect(concluded({ attempts: [attempt(), { ...accepted, confirmed: true }] })).toBe(true);
    // After its lease had ended: it says nothing about the bet.
    expect(concluded({ attempts: [accepted] })).toBe(false);
    // A rollback that was confirmed by code 8 is no result.
    expect(concluded({ attempts: [{ ...REFUSAL, confirmed: true }] })).toBe(false);
  });

  it('if the wallet refused it, and the service was answered so', () => {
    const refused = { attempts: [{ ...REFUSAL, answerStatus: 400 }], answerStatus: 400 };
    expect(told(refused)).toEqual({ wasSent: true, isConcluded: true, isRefused: true });
    for (const answerStatus of [undefined, 200, 503]) {
      const { isConcluded, isRefused } = told({ attempts: [{ ...REFUSAL, answerStatus }] });
      expect([isConcluded, isRefused]).toEqual([false, false]);
    }
    // Answered 400 by another rule than the wallet's.
    expect(concluded({ attempts: [attempt({ answerStatus: 400 })] })).toBe(false);
  });

  it('if a person resolved it, and the service was promised nothing', () => {
    const deliveries = [{ state: 'resolved', attempts: 3 }];
    expect(concluded({ deliveries, answerStatus: 503 })).toBe(true);
    expect(concluded({ deliveries, answerStatus: undefined })).toBe(true);
    expect(concluded({ deliveries, answerStatus: 200 })).toBe(false);
    expect(concluded({ deliveries: [{ state: 'dead', attempts: 3 }], answerStatus: 503 })).toBe(
      false,
    );
    expect(told({ deliveries, answerStatus: 503 }).isRefused).toBe(false);
  });
});

describe('an earlier result', () => {
  const OPEN = { wasSent: true, isConcluded: false, isRefused: false };
  const ACCEPTED = { ...OPEN, isConcluded: true };
  const DECLINED = { ...ACCEPTED, isRefused: true };
  const UNSEEN = { ...OPEN, wasSent: false };

  it('is in doubt while it was sent and nothing has concluded it', () => {
    expect(isOpenResult({ ...OPEN, operation: 'settle' })).toBe(true);
    expect(isOpenResult({ ...OPEN, operation: 'unsettle' })).toBe(true);
    expect(isOpenResult({ ...OPEN, operation: 'place' })).toBe(false);
    expect(isOpenResult({ ...UNSEEN, operation: 'settle' })).toBe(false);
    expect(isOpenResult({ ...DECLINED, operation: 'settle' })).toBe(false);
  });

  it('is repeated by the same one until the wallet answers', () => {
    expect(bearingOf(OPEN, true)).toBe('repeated');
    expect(bearingOf(ACCEPTED, true)).toBe('between');
    expect(bearingOf(DECLINED, true)).toBe('between');
  });

  it('is no repeat’s concern if it changed nothing at the wallet', () => {
    expect(bearingOf(UNSEEN, true)).toBe('passedOver');
    expect(bearingOf(UNSEEN, false)).toBe('passedOver');
    expect(bearingOf(DECLINED, false)).toBe('passedOver');
    expect(bearingOf(OPEN, false)).toBe('between');
    expect(bearingOf(ACCEPTED, false)).toBe('between');
  });
});
