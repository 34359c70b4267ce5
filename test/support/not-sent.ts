import { expect } from 'vitest';
import type { CallResult } from '../../tools/simulator/signed-client.ts';
import type { TestBet } from './bet.ts';
import { betState } from './journal.ts';

/**
 * A place that is refused at once is answered 100 and recorded as never sent. Its twin and its rollback are
 * answered from that record, whatever has become of the reason.
 */
export async function expectNotSent(bet: TestBet, answer: CallResult): Promise<void> {
  expect([answer.status, answer.json?.code]).toEqual([400, 100]);
  const { databaseUrl } = bet.gateway;
  const state = await betState(databaseUrl, bet.transactionId);
  expect(state).toMatchObject({ place: 'not_sent', busy: null, operations: ['place'] });
  const twin = await bet.place();
  expect([twin.status, twin.body]).toEqual([400, answer.body]);
  expect((await bet.rollback()).status).toBe(200);
  expect(bet.arrivals()).toEqual([]);
  expect(await bet.deliveries()).toEqual([]);
}
