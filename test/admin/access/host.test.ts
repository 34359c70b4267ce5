import { request } from 'node:http';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { startTestGateway, type TestGateway } from '../../support/gateway.ts';

let gateway: TestGateway;
let admin: ReturnType<TestGateway['parts']['adminServer']>['app'];
let port: number;
beforeAll(async () => {
  gateway = await startTestGateway({
    env: { ADMIN_HOSTS: 'console.example.com, Ops.Example, https://pasted.example:9090/console' },
  });
  admin = gateway.parts.adminServer().app;
  port = Number(new URL(await admin.listen({ host: '127.0.0.1', port: 0 })).port);
});
afterAll(async () => {
  await admin.close();
  await gateway.close();
});

function statusUnder(host: string, path = '/health/live'): Promise<number> {
  return new Promise((resolve, reject) => {
    const asked = request({ host: '127.0.0.1', port, path, headers: { host } }, (answer) => {
      answer.resume();
      resolve(answer.statusCode ?? 0);
    });
    asked.on('error', reject).end();
  });
}

describe('the internal listener', () => {
  it.each([
    '127.0.0.1:9090',
    '[::1]:9090',
    '10.0.0.7',
    'localhost:9090',
    'wagergate-admin:9090',
    'wagergate-admin.prod.svc',
    'wagergate-admin.prod.svc.cluster.local:9090',
    'console.example.com',
    'CONSOLE.example.com:443',
    'ops.example',
    'pasted.example:9090',
    'wagergate-admin.prod.svc.cluster.local.:9090',
    'localhost.',
    'console.example.com.',
  ])('is asked under %s', async (host) => {
    expect(await statusUnder(host)).toBe(200);
  });

  it.each([
    'evil.example',
    'evil.example:9090',
    'localhost.evil.example',
    '127.0.0.1.nip.io',
    'gateway.internal.evil.example',
    'wagergate-admin.prod.svc.evil.example',
    'a.b:c',
    'evil.example.',
    // With the dot it is a top-level domain, which somebody may own.
    'evil.:9090',
    'console.example.com..',
  ])('is not asked under %s, which somebody else’s page may have pointed here', async (host) => {
    for (const path of ['/health/live', '/metrics', '/admin/operators', '/nowhere']) {
      expect(await statusUnder(host, path)).toBe(421);
    }
  });

  it('breaks off a request that does not come to its end', async () => {
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => socket.destroy());
    socket.resume();
    socket.write('POST /admin/reload HTTP/1.1\r\nhost: localhost\r\ncontent-length: 10\r\n\r\n1');
    await vi.waitFor(() => expect(socket.readableEnded || socket.destroyed).toBe(true), 15_000);
  });
});
