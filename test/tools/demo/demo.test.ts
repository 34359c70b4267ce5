import { afterEach, describe, expect, it, vi } from 'vitest';
import { type GatewayProcess, startGateway } from '../../support/processes.ts';
import { PATIENT_MS } from '../../support/timing.ts';
import { descendantsOf } from './support/descendants.ts';
import { isAlive, useOwnTemporaryFolder } from './support/scratch.ts';

// The whole demo takes some seconds on a quiet machine; the promise is 90.
const DEMO_MS_MAX = 90_000;

/** What a developer's shell may say of other servers, and must not reach the demo's own. */
const OF_OTHERS = { PGSSLMODE: 'require', DATABASE_URL: 'postgresql://127.0.0.1:1/others' };

const temporary = useOwnTemporaryFolder();
let running: GatewayProcess | undefined;
afterEach(() => running?.kill());

async function startDemo(...args: string[]): Promise<GatewayProcess> {
  running = await startGateway({ script: 'tools/demo/main.ts', args, env: OF_OTHERS });
  return running;
}

function textOf(demo: GatewayProcess): string {
  return demo.lines.map((line) => line.text).join('\n');
}

/** A killed process may take a moment to be reaped by the process that inherited it. */
async function expectNothingLeft(pids: readonly number[]): Promise<void> {
  await vi.waitFor(() => expect(pids.filter(isAlive)).toEqual([]), {
    timeout: PATIENT_MS,
    interval: 20,
  });
  expect(await temporary.leftovers()).toEqual([]);
}

describe('npm run demo', () => {
  it('leaves nothing behind when it is interrupted while it starts', async () => {
    const demo = await startDemo();
    await demo.waitForLine(({ text }) => text.startsWith('starting PostgreSQL'));
    const started = await vi.waitFor(() => descendantsOf(demo.pid), { timeout: PATIENT_MS });
    demo.signal('SIGINT');
    expect(await demo.exited).toEqual({ code: 130, signal: null });
    await expectNothingLeft(started);
  });

  it('plays the journey, agrees with both wallets, stays up with --keep, and ends with all of it on SIGTERM', {
    timeout: DEMO_MS_MAX,
  }, async () => {
    const demo = await startDemo('--keep');
    await demo.waitForLine(({ text }) => text.startsWith('Everything stays up'), DEMO_MS_MAX);
    const started = await descendantsOf(demo.pid);
    const text = textOf(demo);
    expect(demo.stderr()).toBe('');
    expect(text).toMatch(/^wallet +player +currency +wallet holds .* service believes/m);
    expect(text.match(/^(alpha|beta) .* agrees$/gm)).toHaveLength(3);
    expect(text).toMatch(/^All \d+ steps did what they say and the books agree/m);
    // The other operator's freebet must not exist at all (I8).
    expect(text.match(/^ +beta +asks for alpha's .* 404, word for word/gm)).toHaveLength(2);
    expect(text).not.toMatch(/FAILED|DIFFERS/);
    // PostgreSQL, Redis, the gateway, and the supervisor of each.
    expect(started.length).toBeGreaterThanOrEqual(6);
    expect(text).toMatch(/^ {2}npx wagergate bet [0-9a-f-]{36}$/m);
    expect(text).toMatch(/^ {2}http:\/\/127\.0\.0\.1:\d+\/console\/link#[\w-]{43}$/m);
    // Every command that asks the gateway uses this, including commands that are not listed.
    const [, adminPort] = /^ {2}admin +http:\/\/127\.0\.0\.1:(\d+)\//m.exec(text) ?? [];
    expect(text).toContain(`\n  export ADMIN_PORT='${adminPort}'\n`);
    expect(text).toMatch(/^ {2}export DATABASE_URL='postgresql:.*\?sslmode=disable'$/m);
    expect(text).toMatch(/^ {2}npx wagergate config diff$/m);
    // `npm run check` and git ignore what it writes.
    expect(text).toMatch(/^ {2}npx wagergate certify .* --out certificates$/m);
    demo.signal('SIGTERM');
    expect(await demo.exited).toEqual({ code: 0, signal: null });
    await expectNothingLeft(started);
  });
});
