import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isOnPath } from '../../tools/lib/command.ts';
import { ROOT } from './support/dockerfile.ts';

/** For people on duty, who have the image and no clone: it has neither npm nor npx. */
const PAGES_ON_DUTY = [
  'docs/console.md',
  'docs/errors.md',
  'docs/moving.md',
  'docs/operations.md',
  'docs/records.md',
  ...readdirSync(join(ROOT, 'docs/runbooks'))
    // It says where npx may be used.
    .filter((file) => file !== 'README.md')
    .map((file) => `docs/runbooks/${file}`),
];

describe('what the pages for people on duty have them copy', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'wagergate-copied-'));
  });
  afterEach(() => rm(folder, { recursive: true }));

  it('calls the command as the image does', () => {
    expect(PAGES_ON_DUTY.filter((page) => read(page).includes('npx '))).toEqual([]);
  });

  it('holds every operator after a restore, with nothing but the image’s programs', async () => {
    const loop = /^ *```sh\n( *for file in .*? done\n)/ms.exec(read('docs/operations.md'))?.[1];
    await mkdir(join(folder, 'config/operators'), { recursive: true });
    // Whatever the gateway reads as an operator's file, and two that it does not.
    for (const file of ['alpha.yaml', 'beta-2.yml', 'gamma.YAML', 'notes.md', '.zeta.yaml.new']) {
      await writeFile(join(folder, 'config/operators', file), '');
    }
    const { stderr } = await promisify(execFile)('/bin/sh', ['-c', loop ?? ''], {
      env: { PATH: await imagePath(folder), GATEWAY_CONFIG: join(folder, 'config') },
    });
    expect(stderr).toBe('');
    expect(await readFile(join(folder, 'called'), 'utf8')).toBe(
      'deliveries hold --operator alpha --reason restored to 14:05\n' +
        'deliveries hold --operator beta-2 --reason restored to 14:05\n' +
        'deliveries hold --operator gamma --reason restored to 14:05\n',
    );
  });

  it.skipIf(!isOnPath('awk'))('finds in a log what the service was last answered 503', async () => {
    const awk = /```sh\n *(awk .*?)```/s.exec(read('docs/operations.md'))?.[1] ?? '';
    const [given, settled, lost] = ['c0f8abdc', 'd75f6a7a', 'a15a6c0e'];
    const handled = (operation: string, status: number, transactionId: string) =>
      `{"level":30,"time":"2026-11-26T19:35:47.009Z","pid":4430,"operation":"${operation}","outcome":"error",` +
      `"status":${status},"durationMs":2688.9,"transactionId":"${transactionId}","requestId":"1","msg":"callback.handled"}\n`;
    const log =
      handled('place', 503, lost) +
      handled('rollback', 503, lost) +
      handled('rollback', 503, given) +
      handled('rollback', 200, given) +
      handled('settle', 200, settled);
    await writeFile(join(folder, 'gateway.log'), log);
    const { stdout } = await promisify(execFile)('/bin/sh', ['-c', awk], { cwd: folder });
    expect(stdout).toBe(`rollback ${lost}\n`);
  });
});

/** A folder with the image's programs, and a `wagergate` that writes down how it was called. */
async function imagePath(folder: string): Promise<string> {
  const bin = join(folder, 'bin');
  await mkdir(bin);
  const [, programs = ''] = /^programs='(.*)'$/m.exec(read('scripts/gather-system.sh')) ?? [];
  for (const program of programs.split(' ').filter(isOnPath)) {
    const { stdout } = await promisify(execFile)('/bin/sh', ['-c', `command -v ${program}`]);
    await symlink(stdout.trim(), join(bin, program));
  }
  const wagergate = join(bin, 'wagergate');
  await writeFile(wagergate, `#!/bin/sh\necho "$@" >>'${folder}/called'\n`);
  await chmod(wagergate, 0o755);
  return bin;
}

function read(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8');
}
