import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestGateway } from '../../support/gateway.ts';
import { ADMIN_TOKEN, ask } from '../support/admin.ts';

/** As many attempts to sign in as one address has at once, and more than it gets back meanwhile. */
const ATTEMPTS = 200;

let trusting: string;
let wary: string;
const running = new AsyncDisposableStack();
beforeAll(async () => {
  trusting = await listen('127.0.0.0/8, ::1/128');
  wary = await listen('192.0.2.0/24');
});
afterAll(() => running.disposeAsync());

/** @returns the address of an internal listener */
async function listen(ADMIN_TRUST_PROXY: string): Promise<string> {
  const gateway = await startTestGateway({ env: { ADMIN_TOKEN, ADMIN_TRUST_PROXY } });
  running.defer(() => gateway.close());
  const { app } = gateway.parts.adminServer();
  running.defer(() => app.close());
  return await app.listen({ host: '127.0.0.1', port: 0 });
}

const through = (forwarded: string) => ({
  authorization: `Bearer ${ADMIN_TOKEN}`,
  'x-forwarded-for': forwarded,
});

/** The address in the audit of a change that came through the proxy. */
async function audited(baseUrl: string, forwarded: string): Promise<unknown> {
  const headers = through(forwarded);
  const path = `${baseUrl}/admin/operators/alpha/deliveries`;
  const body = JSON.stringify({ reason: 'a test' });
  for (const change of ['hold', 'resume']) {
    const { status } = await ask(`${path}/${change}`, { method: 'POST', headers, body });
    expect(status).toBeLessThan(300);
  }
  const { json } = await ask(`${baseUrl}/admin/audit`, { headers });
  return json.items[0]?.address;
}

const signInFrom = async (baseUrl: string, forwarded: string) =>
  (await ask(`${baseUrl}/console/sign-in`, { headers: { 'x-forwarded-for': forwarded } })).status;

describe("a caller's address behind a proxy of ADMIN_TRUST_PROXY", () => {
  it.each([
    ['198.51.100.7', '198.51.100.7'],
    ['198.51.100.7:51234', '198.51.100.7'],
    ['[2001:db8::7]:443', '2001:db8::7'],
    // What the caller itself has claimed comes before what the proxy has seen.
    ['10.9.9.9, 198.51.100.7', '198.51.100.7'],
    ['198.51.100.7, 127.0.0.2', '198.51.100.7'],
    // A proxy that passes on anything: what is no address is nobody's.
    ['a name of my choice', '127.0.0.1'],
    ['x'.repeat(4_000), '127.0.0.1'],
    ['', '127.0.0.1'],
  ])('is %s in the audit as %s', async (forwarded, address) => {
    expect(await audited(trusting, forwarded)).toBe(address);
  });

  it('is its own for the limit of sign-ins: one who uses it up locks nobody else out (I7)', async () => {
    const noisy = await Promise.all(
      // Another port each time, as of new connections.
      Array.from({ length: ATTEMPTS }, (_, n) => signInFrom(trusting, `198.51.100.66:${4000 + n}`)),
    );
    expect(noisy).toContain(429);
    expect(await signInFrom(trusting, '198.51.100.67')).toBe(200);
  });
});

describe("a caller's address behind any other proxy", () => {
  it("is the proxy's, whatever it claims", async () => {
    expect(await audited(wary, '198.51.100.7')).toBe('127.0.0.1');
    const statuses = await Promise.all(
      Array.from({ length: ATTEMPTS }, (_, n) => signInFrom(wary, `203.0.113.${n}`)),
    );
    expect(statuses).toContain(429);
  });
});
