import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Clock } from '../../src/domain/clock.ts';
import { unplacedBet } from '../support/bet.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';

/** Calls that are refused at once, in a loop: up to 200 at once and 100 a second get the usual refusal. */

let standsAtMs: number | undefined;
const clock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => standsAtMs ?? performance.now(),
};
let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway({ clock, operators: { alpha: {}, beta: {} } });
});
afterAll(() => gateway.close());
afterEach(async () => {
  standsAtMs = undefined;
  await gateway.reconfigure('alpha', {});
});

const rejected = (reason: string) =>
  gateway.metric('gateway_rejected_total', { operator: 'alpha', reason });

/** Makes this many calls at once, while no time passes for the limit. */
async function flood<T>(count: number, call: () => Promise<T>): Promise<readonly T[]> {
  standsAtMs ??= performance.now();
  return await Promise.all(Array.from({ length: count }, call));
}

describe('a bet call', () => {
  it('is never refused by rate: each place stays in the journal and answers its rollback', async () => {
    const player = await gateway.player();
    await gateway.reconfigure('alpha', { status: 'maintenance' });
    await gateway.service.balance(player);
    await flood(210, () => gateway.service.balance(player));
    const before = await rejected('rate');

    const bet = await unplacedBet(gateway, { player });
    const placed = await bet.place();
    expect([placed.status, placed.json?.code]).toEqual([400, 100]);
    await gateway.reconfigure('alpha', {});
    expect((await bet.place()).body).toBe(placed.body);
    expect((await bet.rollback()).status).toBe(200);
    expect(bet.arrivals()).toEqual([]);
    expect(await rejected('rate')).toBe(before);
  });
});
