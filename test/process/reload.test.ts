import { mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { z } from 'zod';
import { createService, type SimulatedService } from '../../tools/simulator/service.ts';
import { operatorFile, SERVICE_SECRET } from '../support/gateway.ts';
import { type Deployment, openDeployment, type Replica } from './support/deployment.ts';

/** Operators are added, removed and changed while a gateway process works. */

const ADMIN_TOKEN = 'the-admin-token-that-is-long-enough';
let deployment: Deployment;
let replica: Replica;
let service: SimulatedService;
beforeAll(async () => {
  deployment = await openDeployment({ operators: { alpha: {}, beta: {}, gamma: {} } });
  replica = await deployment.replica({ ADMIN_TOKEN });
  service = createService({ baseUrl: replica.baseUrl, secret: SERVICE_SECRET, retryScale: 0 });
}, 60_000);
afterAll(async () => {
  await service.close();
  await replica.process.stop();
  await deployment.close();
});

const fileOf = (id: string) => join(deployment.configFolder, 'operators', `${id}.yaml`);
const write = (id: string, settings: Readonly<Record<string, unknown>> = {}) =>
  writeFile(fileOf(id), stringify(operatorFile(id, deployment.wallet(id).baseUrl, settings)));

async function reload() {
  const response = await fetch(`${replica.adminUrl}/admin/reload`, {
    method: 'POST',
    headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
  });
  const json: unknown = await response.json();
  return json;
}

const OPERATORS = z.object({ items: z.array(z.object({ id: z.string(), status: z.string() })) });

async function statusOf(id: string): Promise<string | undefined> {
  const response = await fetch(`${replica.adminUrl}/admin/operators`, {
    headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
  });
  const { items } = OPERATORS.parse(await response.json());
  return items.find((item) => item.id === id)?.status;
}

const linesOf = (message: string) =>
  replica.process.lines.filter(({ json }) => String(json?.msg).startsWith(message));

describe('a reload', () => {
  it('is requested by SIGHUP, even when nothing seems to have changed', async () => {
    const before = linesOf('config.reloaded').length;
    replica.process.signal('SIGHUP');
    await expect
      .poll(() => linesOf('config.reloaded').length, { timeout: 15_000 })
      .toBeGreaterThan(before);
  });

  it('is asked for by POST /admin/reload, in force with its answer', async () => {
    await write('gamma', { status: 'suspended' });
    expect(await reload()).toMatchObject({ result: 'ok', problems: [] });
    expect(await statusOf('gamma')).toBe('suspended');
    await write('gamma');
    await reload();
    expect(await statusOf('gamma')).toBe('active');
  });

  it('comes by itself when a ConfigMap’s symlink is swapped under it', async () => {
    const folder = join(deployment.configFolder, 'operators');
    const { baseUrl } = deployment.wallet('gamma');
    const mount = async (version: string, status: string) => {
      await mkdir(join(folder, `..${version}`));
      const text = stringify(operatorFile('gamma', baseUrl, { status }));
      await writeFile(join(folder, `..${version}`, 'gamma.yaml'), text);
      await symlink(`..${version}`, join(folder, '..data_tmp'));
      await rename(join(folder, '..data_tmp'), join(folder, '..data'));
    };
    await mount('1', 'active');
    await symlink('..data/gamma.yaml', join(folder, 'gamma.link'));
    await rename(join(folder, 'gamma.link'), fileOf('gamma'));
    await mount('2', 'suspended');
    await expect.poll(() => statusOf('gamma'), { timeout: 15_000 }).toBe('suspended');
    await rm(fileOf('gamma'));
    await write('gamma');
    await reload();
    expect(await statusOf('gamma')).toBe('active');
  });

  it('of an invalid file is counted, and leaves the last good version in force', async () => {
    await write('gamma', { status: 'odd' });
    expect(await reload()).toMatchObject({
      result: 'invalid',
      problems: [{ file: 'operators/gamma.yaml', path: 'status' }],
    });
    expect(await statusOf('gamma')).toBe('active');
    const metrics = await (await fetch(`${replica.adminUrl}/metrics`)).text();
    const counted = /gateway_config_reloads_total\{result="invalid"\} (\d+)/.exec(metrics)?.[1];
    expect(Number(counted)).toBeGreaterThan(0);
    await write('gamma');
    expect(await reload()).toMatchObject({ result: 'ok' });
  });

  it('that moves a wallet is said loudly, with both addresses', async () => {
    const { baseUrl } = deployment.wallet('gamma');
    await write('gamma', { wallet: { baseUrl: 'http://127.0.0.1:9/elsewhere' } });
    await reload();
    const moved = await replica.process.waitForLine(
      ({ json }) => json?.msg === 'config.wallet_moved',
    );
    expect(moved.json).toMatchObject({
      level: 40,
      operator: 'gamma',
      from: baseUrl,
      to: 'http://127.0.0.1:9/elsewhere',
    });
    await write('gamma');
    await reload();
  });
});

describe('under load', () => {
  it('no other operator’s request fails, whatever becomes of one (I7)', async () => {
    const player = await deployment.player(replica.baseUrl, {
      operatorId: 'beta',
      balance: '1000000',
    });
    let isOver = false;
    const statuses: number[] = [];
    const load = async () => {
      while (!isOver) {
        const placed = await service.place({ ...player, amount: '1' });
        statuses.push(placed.result.status, (await service.balance(player)).status);
      }
    };
    const loads = Array.from({ length: 4 }, load);

    const changes: readonly (() => Promise<void>)[] = [
      () => write('alpha', { wallet: { timeoutMs: 1_234 } }),
      () => write('alpha', { wallet: { secrets: ['a-new-secret-of-alphas'] } }),
      () => write('alpha', { wallet: { maxConcurrent: { money: 3 } } }),
      () => write('alpha', { wallet: { baseUrl: 'http://127.0.0.1:9' } }),
      () => write('alpha', { status: 'maintenance' }),
      () => writeFile(fileOf('alpha'), 'id: [no operator'),
      () => rm(fileOf('alpha')),
      () => write('alpha'),
    ];
    for (const change of changes) {
      await change();
      await reload();
      const soFar = statuses.length;
      await expect.poll(() => statuses.length, { timeout: 15_000 }).toBeGreaterThan(soFar + 20);
    }
    isOver = true;
    await Promise.all(loads);
    expect(statuses.filter((status) => status !== 200)).toEqual([]);
  });

  it('nothing in flight of the changed operator is cut, and the next call is on the new settings', async () => {
    const player = await deployment.player(replica.baseUrl);
    const wallet = deployment.wallet('alpha');
    const gate = wallet.hold('place');
    const placing = service.place({ ...player, amount: '10' });
    await gate.arrived;
    wallet.setSecrets(['alpha-wallet-secret', 'the-next-secret-of-alpha']);
    // Another connection pool and another secret.
    await write('alpha', { wallet: { timeoutMs: 3_900, secrets: ['the-next-secret-of-alpha'] } });
    expect(await reload()).toMatchObject({ changed: { updated: ['alpha'] } });
    gate.release();
    expect((await placing).result.status).toBe(200);

    wallet.setSecrets(['the-next-secret-of-alpha']);
    expect((await service.balance(player)).amount).toBe('990');
    wallet.setSecrets(['alpha-wallet-secret']);
    await write('alpha');
    await reload();
  });
});
