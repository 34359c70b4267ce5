import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, type TestContext } from 'vitest';
import { placeBody } from '../../src/protocol/callback-bodies.ts';
import { createService } from '../../tools/simulator/service.ts';
import { SERVICE_SECRET } from '../support/gateway.ts';
import { openDeployment, type Replica } from './support/deployment.ts';

const PATIENT = { timeout: 20_000, interval: 100 };
const FILE = 'operators/beta.yaml';

it('a start takes an operator whose file is invalid as in maintenance, and serves the others (I4, I7)', {
  timeout: 90_000,
}, async (context) => {
  const { deployment, valid, write } = await openTwo(context);
  const before = await deployment.replica();
  const player = await deployment.player(before.baseUrl, { operatorId: 'beta' });
  const service = serviceAt(context, before);
  const { transactionId } = await service.place({ ...player, amount: '40' });
  const wallet = deployment.wallet('beta');
  wallet.misbehave('rollback', { kind: 'status', status: 500 }, { transactionId });
  expect(await service.rollback(transactionId)).toMatchObject({ kind: 'confirmed', sends: 1 });
  await before.process.stop();
  wallet.behave();

  await write('id: [');
  const after = await deployment.replica({ WORKERS: '2' });
  context.onTestFinished(async () => void (await after.process.stop()));
  const attempts = () =>
    deployment.query<{ attempts: number }>(
      'SELECT attempts FROM deliveries WHERE transaction_id = $1',
      [transactionId],
    );
  const attempted = await attempts();
  await expect
    .poll(() => readiness(after), PATIENT)
    .toMatchObject({
      http: 200,
      report: { status: 'ready', invalidFiles: [FILE] },
    });
  expect(await metrics(after)).toContain(`gateway_config_invalid{file="${FILE}"} 1\n`);
  expect(await metrics(after)).toContain(
    'gateway_operator_info{operator="beta",status="maintenance"} 1\n',
  );
  expect(after.process.lines).toContainEqual(
    expect.objectContaining({
      json: expect.objectContaining({ level: 50, msg: 'config.invalid', file: FILE }),
    }),
  );

  const later = serviceAt(context, after);
  const alpha = await deployment.player(after.baseUrl);
  expect((await later.place({ ...alpha, amount: '1' })).kind).toBe('accepted');
  const calls = wallet.requests.length;
  const slip = later.slip({ ...player, amount: '3' });
  const place = await later.call('POST', '/payment/bet', placeBody(slip));
  expect(place).toMatchObject({ status: 400, json: { code: 100 } });
  expect(await metrics(after)).toMatch(
    /gateway_rejected_total\{operator="beta",reason="maintenance"\} [1-9]/,
  );
  expect((await later.balance(player)).status).toBe(503);
  expect((await later.profile('beta.never-seen-token')).status).toBe(503);
  await expect
    .poll(() => metrics(after), PATIENT)
    .toMatch(/gateway_deliveries\{operator="beta",operation="rollback",state="held"\} 1\n/);
  expect(await attempts()).toEqual(attempted);
  expect(wallet.requests.length).toBe(calls);

  await write(valid);
  await expect.poll(() => wallet.balance(player.user, 'USD'), PATIENT).toBe('1000');
  await expect
    .poll(() => readiness(after), PATIENT)
    .toEqual({
      http: 200,
      report: { status: 'ready', dependencies: { postgresql: 'up', redis: 'up' } },
    });
  expect((await later.place({ ...player, amount: '5' })).kind).toBe('accepted');

  // From now on it has a valid version to keep.
  await write('id: [');
  await expect
    .poll(() => readiness(after), PATIENT)
    .toMatchObject({
      report: { invalidFiles: [FILE] },
    });
  expect(await metrics(after)).toContain(`gateway_config_invalid{file="${FILE}"} 1\n`);
  expect((await later.place({ ...player, amount: '5' })).kind).toBe('accepted');
});

type Finishing = Pick<TestContext, 'onTestFinished'>;

async function openTwo({ onTestFinished }: Finishing) {
  const deployment = await openDeployment({
    gateway: { delivery: { minBackoffMs: 50, maxBackoffMs: 300 } },
    operators: { alpha: {}, beta: {} },
  });
  onTestFinished(() => deployment.close());
  const path = join(deployment.configFolder, FILE);
  const valid = await readFile(path, 'utf8');
  return { deployment, valid, write: (text: string) => writeFile(path, text) };
}

function serviceAt({ onTestFinished }: Finishing, { baseUrl }: Replica) {
  const service = createService({ baseUrl, secret: SERVICE_SECRET, retryScale: 0 });
  onTestFinished(() => service.close());
  return service;
}

async function readiness({ adminUrl }: Replica) {
  const answer = await fetch(`${adminUrl}/health/ready`);
  return { http: answer.status, report: await answer.json() };
}

async function metrics({ adminUrl }: Replica): Promise<string> {
  return await (await fetch(`${adminUrl}/metrics`)).text();
}
