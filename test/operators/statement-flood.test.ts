import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import type { Clock } from '../../src/domain/clock.ts';
import { Statements } from '../../src/store/books/statements.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';

/** One operator that asks for statements again and again, all of them within its limits of requests. */

let standsAtMs: number | undefined;
/** Can be stopped, so that the operator gains nothing during a test. */
const clock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => standsAtMs ?? performance.now(),
};

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway({ clock, operators: { alpha: {}, beta: {} } });
});
afterAll(() => gateway.close());

it.each(['application/json', 'text/csv'])(
  'reads statements for one operator eight at a time, and another does not wait for them (I7): %s',
  async (accept) => {
    const { promise: answers, resolve: answer } = Promise.withResolvers<undefined>();
    const looked = vi
      .spyOn(Statements.prototype, 'find')
      .mockImplementation(async (operatorId) =>
        operatorId === 'alpha' ? await answers : undefined,
      );
    const [alpha, beta] = [gateway.operator('alpha'), gateway.operator('beta')];
    const ask = (operator: typeof alpha) =>
      operator.call('/operator/statements', { day: '2026-11-20' }, { headers: { accept } });
    const flood = Array.from({ length: 30 }, () => ask(alpha));
    await vi.waitFor(() => expect(looked).toHaveBeenCalledTimes(8), 15_000);
    expect((await ask(beta)).status).toBe(404);
    expect(looked).toHaveBeenCalledTimes(9);
    answer(undefined);
    const statuses = (await Promise.all(flood)).map(({ status }) => status);
    expect([new Set(statuses), looked.mock.calls.length]).toEqual([new Set([404]), 31]);
    looked.mockRestore();
    await Promise.all([alpha.close(), beta.close()]);
  },
);
