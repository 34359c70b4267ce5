import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { createService, type SimulatedService } from '../../tools/simulator/service.ts';
import { SERVICE_SECRET } from '../support/gateway.ts';
import { descendantsOf } from '../tools/demo/support/descendants.ts';
import { type Deployment, openDeployment, type Replica } from './support/deployment.ts';

const ADMIN_TOKEN = 'the-admins-token-that-is-long-enough';
const PATIENT = { timeout: 20_000, interval: 50 };
const BETS = 12;

describe('a reload with WORKERS=2', { timeout: 60_000 }, () => {
  let deployment: Deployment;
  let replica: Replica;
  let service: SimulatedService;
  let good: string;
  let file: string;
  beforeAll(async () => {
    deployment = await openDeployment();
    replica = await deployment.replica({ WORKERS: '2', ADMIN_TOKEN });
    service = createService({ baseUrl: replica.baseUrl, secret: SERVICE_SECRET, retryScale: 0 });
    const listening = () =>
      replica.process.lines.filter(({ json }) => json?.msg === 'gateway.listening').length;
    await vi.waitUntil(() => listening() === 2, PATIENT);
    file = join(deployment.configFolder, 'operators', 'alpha.yaml');
    good = await readFile(file, 'utf8');
  });
  afterAll(async () => {
    await service.close();
    await deployment.close();
  });

  async function reload(): Promise<unknown> {
    const headers = { authorization: `Bearer ${ADMIN_TOKEN}` };
    const answer = await fetch(`${replica.adminUrl}/admin/reload`, { method: 'POST', headers });
    return await answer.json();
  }

  const suspend = () =>
    writeFile(file, good.replace(/^status: .*$/m, '').concat('\nstatus: suspended\n'));

  it('is in force in every process with its answer: no bet of a suspended operator is taken (I7)', async () => {
    const player = await deployment.player(replica.baseUrl);
    await suspend();
    expect(await reload()).toMatchObject({ result: 'ok', problems: [] });
    const placed = await Promise.all(
      Array.from({ length: BETS }, () => service.place({ ...player, amount: '1' })),
    );
    expect(placed.filter(({ kind }) => kind === 'accepted')).toEqual([]);
    await writeFile(file, good);
    expect(await reload()).toMatchObject({ result: 'ok' });
    expect((await service.place({ ...player, amount: '1' })).kind).toBe('accepted');
  });

  it('says of a process that it has not heard of it, and of what is wrong only once', async () => {
    const [hung] = await descendantsOf(replica.process.pid);
    process.kill(hung, 'SIGSTOP');
    onTestFinished(() => {
      process.kill(hung, 'SIGCONT');
    });
    expect(await reload()).toMatchObject({
      result: 'invalid',
      problems: [{ file: `worker process ${hung}`, path: '' }],
    });
    process.kill(hung, 'SIGCONT');
    await writeFile(file, `${good}\nno: such key\n`);
    expect(await reload()).toMatchObject({ result: 'invalid', problems: [{ path: 'no' }] });
    await writeFile(file, good);
    expect(await reload()).toMatchObject({ result: 'ok', problems: [] });
  });

  it('by SIGHUP to the process that people know reaches all of them', async () => {
    const reloaded = () =>
      new Set(
        replica.process.lines
          .slice(before)
          .filter(({ json }) => json?.msg === 'config.reloaded')
          .map(({ json }) => json?.pid),
      ).size;
    const before = replica.process.lines.length;
    process.kill(replica.process.pid, 'SIGHUP');
    await expect.poll(reloaded, PATIENT).toBe(3);
  });
});
