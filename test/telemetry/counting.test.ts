import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { unplacedBet } from '../support/bet.ts';
import { insertDelivery } from '../support/deliveries.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { onServer } from '../support/server.ts';

const PATIENT = { timeout: 20_000, interval: 100 };

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway({ worker: true, operators: { alpha: {}, beta: {} } });
});
afterAll(() => gateway.close());

describe('counters that alarms look at', () => {
  it('are there as zero, for every operator, before anything happens', async () => {
    const text = (await Array.fromAsync(gateway.metrics.text())).join('');
    for (const operator of ['alpha', 'beta', 'unknown']) {
      expect(text).toContain(`gateway_conflicts_total{operator="${operator}"} 0\n`);
      expect(text).toContain(`gateway_signature_failures_total{caller="${operator}"} 0\n`);
    }
    expect(text).toContain('gateway_wallet_declines_total{operator="beta",code="1"} 0\n');
    for (const operation of ['place', 'settle', 'unsettle']) {
      const unknown = `gateway_unknown_outcomes_total{operator="beta",operation="${operation}"} 0\n`;
      expect(text).toContain(unknown);
    }
    expect(text).toContain('gateway_config_reloads_total{result="invalid"} 0\n');
  });
});

describe('a decline', () => {
  it.each([
    [7, '7'],
    [14, '14'],
    [4711, 'other'],
  ])('with code %i is counted as %s', async (code, label) => {
    const labels = { operator: 'alpha', code: label };
    const before = await gateway.metric('gateway_wallet_declines_total', labels);
    const bet = await unplacedBet(gateway);
    bet.wallet.misbehave('place', { kind: 'code', code }, { calls: 1 });
    await bet.place();
    expect(await gateway.metric('gateway_wallet_declines_total', labels)).toBe(before + 1);
  });
});

describe('the age of the oldest rollback', () => {
  it('is that of one not yet delivered, not of one that is only confirmed once more', async () => {
    await onServer(gateway.databaseUrl, async (client) => {
      await insertDelivery(client, { operator: 'alpha', purpose: 'confirm' });
      await insertDelivery(client, { operator: 'beta', operation: 'update' });
    });
    const waiting = () => gateway.metric('gateway_deliveries', { state: 'pending' });
    await expect.poll(waiting, PATIENT).toBe(2);
    const oldest = () => gateway.metric('gateway_rollback_oldest_seconds');
    expect(await oldest()).toBe(0);
    const beta = { operator: 'beta' };
    expect(await gateway.metric('gateway_delivery_oldest_seconds', beta)).toBeGreaterThan(3_599);
    await onServer(gateway.databaseUrl, (client) => insertDelivery(client, { operator: 'alpha' }));
    await expect.poll(oldest, PATIENT).toBeGreaterThan(3_599);
  });
});

describe('the age of the oldest result', () => {
  it.each([
    ['settle', 'alpha'],
    ['unsettle', 'beta'],
  ])(
    'is that of a waiting %s, of no other operation and no repeat',
    async (operation, operator) => {
      const waiting = () => gateway.metric('gateway_deliveries', { state: 'pending' });
      const before = await waiting();
      await onServer(gateway.databaseUrl, async (client) => {
        await insertDelivery(client, { operator, operation, purpose: 'confirm' });
        await insertDelivery(client, { operator, operation: 'update' });
        await insertDelivery(client, { operator, operation: 'rollback' });
      });
      await expect.poll(waiting, PATIENT).toBe(before + 3);
      const oldest = () => gateway.metric('gateway_result_oldest_seconds', { operator });
      expect(await oldest()).toBe(0);
      await onServer(gateway.databaseUrl, (client) =>
        insertDelivery(client, { operator, operation }),
      );
      await expect.poll(oldest, PATIENT).toBeGreaterThan(3_599);
    },
  );
});

describe('a configuration', () => {
  it('that is refused shows until it is put right', async () => {
    const invalid = () =>
      gateway.metric('gateway_config_invalid', { file: 'operators/gamma.yaml' });
    expect(await invalid()).toBe(0);
    const broken = join(gateway.configFolder, 'operators', 'gamma.yaml');
    await writeFile(broken, 'id: [');
    await expect(gateway.reload()).rejects.toThrow('invalid');
    expect(await invalid()).toBe(1);
    await rm(broken);
    await gateway.reload();
    expect(await invalid()).toBe(0);
    expect(await gateway.metric('gateway_config_reloads_total', { result: 'invalid' })).toBe(1);
  });
});
