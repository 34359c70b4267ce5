import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type GatewayProcess, startGateway } from './processes.ts';

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'wagergate-test-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Runs a script in place of the gateway. */
async function run(script: string, env: Record<string, string> = {}): Promise<GatewayProcess> {
  const file = join(folder, `${expect.getState().currentTestName?.replaceAll(/\W/g, '-')}.mjs`);
  await writeFile(file, script);
  return startGateway({ script: file, env, args: ['one'] });
}

const OBEDIENT = `
  process.on('SIGTERM', () => { console.log('{"msg":"bye"}'); process.exitCode = 3; clearInterval(on); });
  const on = setInterval(() => {}, 1000);
  console.error('a word');
  console.log('plain');
  console.log(JSON.stringify({ msg: 'up', mine: process.env.MINE, theirs: process.env.VITEST, args: process.argv.slice(2) }));`;

describe('a gateway process under test', () => {
  it('gets its own environment only, and tells its lines as they come', async () => {
    const gateway = await run(OBEDIENT, { MINE: 'yes' });
    const up = await gateway.waitForLine((line) => line.json?.msg === 'up');
    expect(up.json).toEqual({ msg: 'up', mine: 'yes', args: ['one'] });
    expect(await gateway.waitForLine((line) => line.text === 'plain')).toHaveProperty('text');
    await gateway.kill();
    expect(gateway.stderr()).toBe('a word\n');
  });

  it('is stopped by SIGTERM, and its last line and exit code are known then', async () => {
    const gateway = await run(OBEDIENT);
    await gateway.waitForLine((line) => line.json?.msg === 'up');
    expect(await gateway.stop()).toEqual({ code: 3, signal: null });
    expect(gateway.lines.at(-1)?.json).toEqual({ msg: 'bye' });
  });

  it('is killed without last words', async () => {
    const gateway = await run(OBEDIENT);
    await gateway.waitForLine((line) => line.json?.msg === 'up');
    expect(await gateway.kill()).toEqual({ code: null, signal: 'SIGKILL' });
    expect(gateway.lines.map((line) => line.json?.msg)).not.toContain('bye');
  });

  it('fails a wait for a line that can no longer come, showing what was written', async () => {
    const gateway = await run(`console.log('nothing'); console.error('because'); process.exit(1);`);
    const waiting = gateway.waitForLine((line) => line.text === 'never');
    await expect(waiting).rejects.toThrow(/ended without the line\nnothing\nbecause/);
    expect(await gateway.exited).toEqual({ code: 1, signal: null });
  });
});
