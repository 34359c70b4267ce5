import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { openStartingListener } from '../../../src/http/starting-listener.ts';
import { ADMIN_TOKEN, startAdmin, type TestAdmin } from '../../admin/support/admin.ts';
import { freePort } from '../../redis/support/redis-process.ts';
import { wagergate } from '../support/command-line.ts';

const LOGIN = '<!doctype html><h1>Sign in to Example Corp</h1>';

let admin: TestAdmin;
beforeAll(async () => {
  admin = await startAdmin();
});
afterAll(() => admin.close());

/** What two commands say of something that stands where the gateway is expected: one asks, the other changes. */
async function toldOf(answer: RequestListener) {
  const server = createServer(answer);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => void server.close());
  return await toldAt((server.address() as AddressInfo).port);
}

async function toldAt(port: number) {
  const at = ['--admin', `http://127.0.0.1:${port}`];
  const env = { ADMIN_TOKEN };
  const asking = await wagergate(['operator', 'status', ...at], { env });
  const changing = await wagergate(['config', 'reload', ...at], { env });
  expect([asking.code, changing.code]).toEqual([1, 1]);
  return { asking: asking.stderr, changing: changing.stderr };
}

it.each([301, 302, 308])('names where a proxy would send a command on to (%i)', async (status) => {
  // To another address of the very gateway, as from http to https: there, the token is not sent.
  const told = await toldOf(({ url }, response) =>
    response.writeHead(status, { location: `${admin.baseUrl}${url}` }).end(),
  );
  for (const line of [told.asking, told.changing]) {
    expect(line).toContain(`sends on to ${admin.baseUrl}/`);
    expect(line).toContain('--admin');
    expect(line).not.toMatch(/another ADMIN_TOKEN|no admin API/);
  }
});

it('calls no token wrong that a proxy has refused', async () => {
  const told = await toldOf((_, response) => response.writeHead(401).end(LOGIN));
  for (const line of [told.asking, told.changing]) {
    expect(line).toContain('is not a gateway (HTTP 401)');
    expect(line).not.toContain('another ADMIN_TOKEN');
  }
});

it.each([502, 504])(
  'says that a change may have been made whose answer a proxy lost (%i)',
  async (status) => {
    const told = await toldOf((_, response) => response.writeHead(status).end('<h1>Gateway</h1>'));
    expect(told.changing).toContain('may have been done');
    expect(told.asking).not.toContain('may have been done');
  },
);

it('calls a gateway of another release that, whose answers have other members', async () => {
  const answer = JSON.stringify({ operators: [], reloaded: true });
  const told = await toldOf((_, response) =>
    response.writeHead(200, { 'content-type': 'application/json' }).end(answer),
  );
  for (const line of [told.asking, told.changing]) {
    expect(line).toContain('is not a gateway of this release: use the command line of its own');
  }
  expect(told.changing).toContain('may have been done');
  expect(told.asking).not.toContain('may have been done');
});

it('says of a gateway that waits for PostgreSQL that it is starting, and that nothing was done', async () => {
  const port = await freePort();
  onTestFinished(await openStartingListener({ host: '127.0.0.1', port }));
  const told = await toldAt(port);
  for (const line of [told.asking, told.changing]) {
    expect(line).toContain('The gateway is starting');
    expect(line).not.toMatch(/not a gateway|may have been done/);
  }
});
