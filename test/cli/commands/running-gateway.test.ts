import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { ADMIN_TOKEN, startAdmin, type TestAdmin } from '../../admin/support/admin.ts';
import { insertDelivery } from '../../support/deliveries.ts';
import { onServer } from '../../support/server.ts';
import { wagergate } from '../support/command-line.ts';

let admin: TestAdmin;
beforeAll(async () => {
  admin = await startAdmin();
});
afterAll(() => admin.close());

const asked = (...args: readonly string[]) =>
  wagergate([...args, '--admin', admin.baseUrl], { env: { ADMIN_TOKEN } });

/** What `operator status` prints for a gateway with this answer. */
async function statusOf(changes: { readonly items: unknown; readonly dependencies?: unknown }) {
  const { json } = await admin.get('/admin/operators');
  const body = { ...json, withoutFile: [], dependencies: { postgresql: 'up', redis: 'up' } };
  const text = JSON.stringify({ ...body, ...changes });
  const server = createServer((_, response) => response.end(text));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  const args = ['operator', 'status', '--admin', `http://127.0.0.1:${port}`];
  const ran = await wagergate(args, { env: { ADMIN_TOKEN } });
  server.close();
  return ran;
}

const latest = async (action: string) =>
  (await admin.get(`/admin/audit?action=${action}`)).json.items[0];

describe('questions to a running gateway at the command line', () => {
  it('shows how every operator stands', async () => {
    await onServer(admin.databaseUrl, (client) => insertDelivery(client, { state: 'dead' }));
    const look = async () => (await asked('operator', 'status')).stdout;
    // On a busy machine the first look may not wait for the counts.
    const shown = expect.poll(look, { timeout: 20_000 });
    await shown.toMatch(/^alpha +active +closed +closed +go out +0 +- +1 +0$/m);
    expect(await look()).toMatch(/^beta +maintenance +closed +closed +wait +/m);
    const open = ['--class', 'money', '--state', 'open', '--reason', 'OPS-17'];
    expect((await asked('operator', 'breaker', 'alpha', ...open)).code).toBe(0);
    const waiting = /^alpha +active +open by hand +closed +wait /m;
    expect(await look()).toMatch(waiting);
    // A forgotten one looks well otherwise: everything is sent to a wallet, however often it fails.
    await asked('operator', 'breaker', 'alpha', '--class', 'money', '--state', 'closed');
    const kept = /^alpha +active +closed by hand +closed +go out /m;
    expect(await look()).toMatch(kept);
    await asked('operator', 'breaker', 'alpha', '--class', 'money', '--state', 'auto');
    const { stdout: json } = await asked('operator', 'status', '--json');
    expect(JSON.parse(json).items[0]).toMatchObject({ id: 'alpha', deadDeliveries: 1 });
  });

  it.each([
    ['config reload', 'config reload', 'configuration.reload'],
    [
      'operator breaker alpha --class read --state open',
      'operator breaker alpha --class read --state auto',
      'breaker.set',
    ],
  ])('takes blanks off the reason of %s, and an empty one for none', async (one, other, action) => {
    const asks = (command: string, reason: string) =>
      asked(...command.split(' '), '--reason', reason);
    expect((await asks(one, ' OPS-17\n')).code).toBe(0);
    expect((await latest(action))?.reason).toBe('OPS-17');
    expect((await asks(other, '')).code).toBe(0);
    expect((await latest(action))?.reason).toBeNull();
    const { code, stderr } = await asks(one, 'x'.repeat(2_001));
    expect([code, stderr]).toEqual([
      2,
      expect.stringContaining('--reason has 2001 characters: at most 2000 are kept'),
    ]);
  });

  it('shows an operator without a file of which something is open', async () => {
    await onServer(admin.databaseUrl, async (client) => {
      await insertDelivery(client, { operator: 'gone' });
      await insertDelivery(client, { operator: 'gone', state: 'dead' });
    });
    const { code, stdout, stderr } = await asked('operator', 'status');
    expect(code).toBe(0);
    expect(stdout).toMatch(/^gone +no file +- +- +wait +1 +\S+ +1 +0$/m);
    // A busy machine may also be warned of a server that is slow.
    expect(stderr).toMatch(/^warning: gone has no file in the gateway's operators\/: .*$/m);
    const { stdout: json } = await asked('operator', 'status', '--json');
    expect(JSON.parse(json).withoutFile).toMatchObject([{ id: 'gone', openDeliveries: 1 }]);
    // Only its counts are shown: it is not a row among the configured operators.
    const { items } = (await admin.get('/admin/operators')).json;
    expect(items.map(({ id }) => id)).toEqual(['alpha', 'beta']);
  });

  it('does not tell as undone what a gateway took and did not answer', async () => {
    const server = createServer((request, response) => {
      request.on('end', () => {
        if (answers++ > 0) response.writeHead(200, { 'content-length': '9' }).write('{"');
        setImmediate(() => request.socket.destroy());
      });
      request.resume();
    });
    let answers = 0;
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const address = server.address();
    const port = typeof address === 'object' ? address?.port : undefined;
    const reload = () =>
      wagergate(['config', 'reload', '--admin', `http://127.0.0.1:${port}`], {
        env: { ADMIN_TOKEN },
      });
    const broken = await reload();
    const cut = await reload();
    server.close();
    const timeout = vi
      .spyOn(AbortSignal, 'timeout')
      .mockReturnValue(AbortSignal.abort(new DOMException('too late', 'TimeoutError')));
    onTestFinished(() => timeout.mockRestore());
    const late = await reload();
    expect([broken.code, cut.code, late.code]).toEqual([1, 1, 1]);
    expect(cut.stderr).toBe(broken.stderr);
    expect(broken.stderr).toMatch(
      /^error: what runs at http:\S+ broke off before it answered: .* may have been done /,
    );
    expect(late.stderr).toMatch(
      /^error: what runs at http:\S+ did not answer within 10 s: .* may have been done /,
    );
  });

  it('requires the token, and names no other way if there is none', async () => {
    const ran = await wagergate(['operator', 'status', '--admin', admin.baseUrl]);
    expect([ran.code, ran.stderr]).toEqual([
      2,
      'error: ADMIN_TOKEN is not set: set it to the one of the running gateway\n',
    ]);
  });

  it('says that deliveries go out to a suspended operator, whose money breaker is closed', async () => {
    const [alpha] = (await admin.get('/admin/operators')).json.items;
    const suspended = { ...alpha, status: 'suspended' };
    const gamma = { ...suspended, id: 'gamma', breaker: { read: 'closed', money: 'open' } };
    const { stdout } = await statusOf({ items: [suspended, gamma] });
    expect(stdout).toMatch(/^alpha +suspended +closed +closed +go out /m);
    expect(stdout).toMatch(/^gamma +suspended +open +closed +wait /m);
    // Those of an older wallet wait for a person's release.
    const raised = { ...suspended, openDeliveries: 5, heldDeliveries: 3 };
    const released = { ...raised, id: 'delta', countsAtLeast: ['openDeliveries'] };
    const mixed = (await statusOf({ items: [raised, released] })).stdout;
    expect(mixed).toMatch(/^alpha +suspended +closed +closed +go out, 3 held +5 /m);
    expect(mixed).toMatch(/^delta +suspended +closed +closed +go out, 3\+ held +5\+ /m);
    // An attempt would have to be written down first.
    const dependencies = { postgresql: 'read_only', redis: 'up' };
    const readOnly = await statusOf({ items: [suspended], dependencies });
    expect(readOnly.stdout).toMatch(/^alpha +suspended +closed +closed +wait /m);
  });

  it('sets a breaker and leaves it to itself, on record with the reason (I12)', async () => {
    const breaker = (state: string, ...more: string[]) =>
      asked('operator', 'breaker', 'alpha', '--class', 'money', '--state', state, ...more);
    const opened = await breaker('open', '--reason', 'their order');
    expect(opened).toMatchObject({ code: 0, stdout: 'the money breaker of alpha is kept open\n' });
    expect(await latest('breaker.set')).toMatchObject({ actor: 'token', reason: 'their order' });
    const { json } = await admin.get('/admin/operators');
    expect(json.items[0]).toHaveProperty('override.money', 'open');
    const left = await breaker('auto');
    expect(left.stdout).toBe('the money breaker of alpha works by itself again\n');
    const unknown = await asked(
      ...['operator', 'breaker', 'nobody', '--class', 'read', '--state', 'open'],
    );
    expect([unknown.code, unknown.stderr]).toEqual([
      1,
      'warning: no file of operator nobody in the configuration\nerror: No such operator\n',
    ]);
    expect((await breaker('ajar')).code).toBe(2);
  });

  it('ends the sessions of a player, on record with the reason (I12)', async () => {
    const player = await admin.gateway.player();
    const revoke = () => asked('players', 'revoke', player.userId, '--reason', 'stolen phone');
    const { code, stdout } = await revoke();
    expect([code, stdout]).toEqual([0, `sessions of ${player.userId} ended: 1\n`]);
    expect(await latest('sessions.revoke')).toMatchObject({ reason: 'stolen phone' });
    expect((await revoke()).stdout).toContain('ended: 0');
    const nobody = await asked('players', 'revoke', 'nobody', '--reason', 'x');
    expect([nobody.code, nobody.stderr]).toEqual([1, 'error: No such player\n']);
  });

  it('reloads the configuration, and says what is wrong with it', async () => {
    const nothing = await asked('config', 'reload', '--reason', 'to be sure');
    expect(nothing).toMatchObject({
      code: 0,
      stdout: 'nothing has changed: what the gateway reads in the folder is in force\n',
    });
    expect(await latest('configuration.reload')).toMatchObject({ reason: 'to be sure' });
    const file = join(admin.gateway.configFolder, 'operators/beta.yaml');
    await writeFile(file, 'id: beta\n');
    const invalid = await asked('config', 'reload');
    expect(invalid.code).toBe(1);
    expect(invalid.stderr).toContain('operators/beta.yaml: wallet: is missing');
  });
});
