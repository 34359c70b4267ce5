import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ADMIN_TOKEN } from '../admin/support/admin.ts';
import { insertDelivery } from '../support/deliveries.ts';
import { onServer, waitForLock } from '../support/server.ts';
import { type Deployment, openDeployment, type Replica } from './support/deployment.ts';

/** Longer than closing may take, which is no time to finish in. */
const LOCKED_MS = 2_000;
const HEADERS = { authorization: `Bearer ${ADMIN_TOKEN}` };
const GOOD = { code: 0, signal: null };

describe('SIGTERM while somebody is at work', { timeout: 60_000 }, () => {
  let deployment: Deployment;
  beforeAll(async () => {
    deployment = await openDeployment();
  });
  afterAll(() => deployment.close());

  const start = () => deployment.replica({ ADMIN_TOKEN, ROLES: 'http' });
  const draining = ({ process }: Replica) =>
    process.waitForLine(({ json }) => json?.msg === 'gateway.draining');

  it('lets what a person asked for end, and tells how it ended (I12)', async () => {
    const { databaseUrl } = deployment;
    await onServer(databaseUrl, (client) => insertDelivery(client, { state: 'dead' }));
    const replica = await start();
    const body = JSON.stringify({ operator: 'alpha', state: 'dead' });
    await onServer(databaseUrl, async (client) => {
      await client.query('BEGIN; LOCK TABLE deliveries IN ACCESS EXCLUSIVE MODE');
      const retrying = fetch(`${replica.adminUrl}/admin/deliveries/retry`, {
        ...{ method: 'POST', headers: HEADERS, body },
      });
      await waitForLock(databaseUrl);
      const stopping = replica.process.stop();
      await draining(replica);
      await sleep(LOCKED_MS);
      await client.query('COMMIT');
      const answer = await retrying;
      expect([answer.status, await answer.json()]).toEqual([200, { retried: 1 }]);
      expect(await stopping).toEqual(GOOD);
    });
    expect(await deployment.query('SELECT action FROM audit')).toEqual([
      { action: 'delivery.retry' },
    ]);
  });

  it('tells who uploads a list to send it again, and calls that no bug', async () => {
    const replica = await start();
    const url = `${replica.adminUrl}/admin/reconciliations?operator=alpha&from=2026-11-01&to=2026-11-02`;
    const upload = request(url, { method: 'POST', headers: HEADERS });
    upload.write('transactionId,state\nbet-1,settled\n');
    const runs = () => deployment.query('SELECT why FROM reconciliations');
    await expect.poll(runs).toEqual([{ why: null }]);
    const answered = once(upload, 'response');
    const stopping = replica.process.stop();
    const [answer] = (await answered) as [IncomingMessage];
    const told = JSON.parse(await text(answer));
    expect([answer.statusCode, told]).toEqual([
      503,
      { code: 100, message: 'This process is ending: send the list again' },
    ]);
    upload.destroy();
    expect(await stopping).toEqual(GOOD);
    expect(await runs()).toEqual([{ why: 'it was broken off: send the list again' }]);
    expect(replica.process.lines.filter(({ json }) => json?.msg === 'admin.failed')).toEqual([]);
  });
});
