import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { insertDelivery } from '../support/deliveries.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { onServer } from '../support/server.ts';
import { sql } from './support/deliveries.ts';

const PATIENT = { timeout: 20_000, interval: 50 };
/** The bound in docs/reference.md, Metrics. */
const AGE_MS_MAX = 5_000;
/** The machine may be busy with other work in one of them. */
const ROUNDS = 3;

describe('the delivery gauges', () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startTestGateway({ worker: true });
  });
  afterAll(() => gateway.close());

  const shown = (state: string) => gateway.metric('gateway_deliveries', { state });
  const insert = (state: string) =>
    onServer(gateway.databaseUrl, (client) => insertDelivery(client, { state }));

  /** How long after its end a delivery appears that just missed a look. */
  async function ageMsOfWhatJustMissed(): Promise<number> {
    const dead = await shown('dead');
    await insert('dead');
    // From here on the time of the last look is known.
    await expect.poll(() => shown('dead'), PATIENT).toBe(dead + 1);
    const delivered = await shown('delivered');
    const id = await insert('delivered');
    const [row] = await sql<{ settled_at: Date }>(
      gateway,
      `UPDATE deliveries SET settled_at = clock_timestamp() + interval '2.5 seconds'
        WHERE id = $1 RETURNING settled_at`,
      [id],
    );
    await expect.poll(() => shown('delivered'), PATIENT).toBe(delivered + 1);
    const [clock] = await sql<{ now: Date }>(gateway, 'SELECT clock_timestamp() AS now');
    return Number(clock?.now) - Number(row?.settled_at);
  }

  it('are at most 5 s behind, for finished ones as well', { timeout: 90_000 }, async () => {
    const agesMs: number[] = [];
    while (agesMs.length < ROUNDS && Math.min(...agesMs) >= AGE_MS_MAX) {
      agesMs.push(await ageMsOfWhatJustMissed());
    }
    expect(Math.min(...agesMs)).toBeLessThan(AGE_MS_MAX);
  });
});
