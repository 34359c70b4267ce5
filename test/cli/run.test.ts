import { PassThrough } from 'node:stream';
import type { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { createProgram } from '../../src/cli/program.ts';
import { Terminal } from '../../src/cli/terminal.ts';
import { folderWith, GATEWAY, operatorYaml, walletSecret } from '../config/support/folder.ts';
import { spawnInto, spawnWagergate, wagergate } from './support/command-line.ts';

const [stdout, stderr] = [new PassThrough(), new PassThrough()];
const COMMANDS = leavesOf(
  createProgram(new Terminal({ env: {}, stdin: process.stdin, stdout, stderr })),
  [],
);

function leavesOf(command: Command, path: readonly string[]): string[][] {
  if (command.commands.length === 0) return [[...path]];
  return command.commands.flatMap((child) => leavesOf(child, [...path, child.name()]));
}

describe('a command line that cannot be understood', () => {
  it.each([
    [['migrat'], "unknown command 'migrat' (Did you mean migrate?); see: wagergate --help"],
    [
      ['deliveries', 'lst'],
      "unknown command 'lst' (Did you mean list?); see: wagergate deliveries --help",
    ],
    [
      ['deliveries', 'list', '--stat', 'dead'],
      "unknown option '--stat' (Did you mean --state?); see: wagergate deliveries list --help",
    ],
    [['config', 'dif'], "unknown command 'dif' (Did you mean diff?); see: wagergate config --help"],
    [
      ['operator', 'new', 'alpha', '--nmae', 'Alpha'],
      "unknown option '--nmae' (Did you mean --name?); see: wagergate operator new --help",
    ],
    [['bet'], "missing required argument 'transactionId'; see: wagergate bet --help"],
    [
      ['verify', '--secret', 's'],
      "required option '--signature <header>' not specified; see: wagergate verify --help",
    ],
  ])('%j is answered in one line that says what to do, and by code 2', async (args, line) => {
    expect(await wagergate(args)).toEqual({ code: 2, stdout: '', stderr: `error: ${line}\n` });
  });

  it('names the choices of an option that has few', async () => {
    const { code, stderr } = await wagergate(['deliveries', 'list', '--state', 'ded']);
    expect(code).toBe(2);
    expect(stderr).toMatch(/^error: .*'ded' is invalid.* pending, held, .*dead.*\n$/);
  });

  it('gets the help, on stderr, where no command is named', async () => {
    const { code, stdout, stderr } = await wagergate([]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(/^Usage: wagergate/);
  });
});

describe('help', () => {
  it('tells of the environment and the exit codes', async () => {
    const { code, stdout } = await wagergate(['--help']);
    expect(code).toBe(0);
    for (const told of ['DATABASE_URL', 'GATEWAY_CONFIG', 'Exit codes']) {
      expect(stdout).toContain(told);
    }
  });

  it.each(COMMANDS.map((path) => path.join(' ')))('of `%s` has examples', async (path) => {
    const { code, stdout } = await wagergate([...path.split(' '), '--help']);
    expect(code).toBe(0);
    expect(stdout).toMatch(new RegExp(`Usage: wagergate ${path}`));
    expect(stdout).toContain(`Examples:\n  $ wagergate ${path}`);
  });
});

describe('a command that fails', () => {
  it('says so in one line without a stack', async () => {
    const { code, stdout, stderr } = await wagergate(['migrate']);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(/^error: DATABASE_URL is not set: set it, .*\n$/);
  });

  it('shows the stack where WAGERGATE_DEBUG asks for it', async () => {
    const { stderr } = await wagergate(['migrate'], { env: { WAGERGATE_DEBUG: '1' } });
    expect(stderr).toMatch(/^error: DATABASE_URL.*\nCommandFailed: .*\n +at /);
  });

  it.each([
    ['postgresql://wagergate:hush@127.0.0.1:1/gateway', 'cannot be reached'],
    ['localhost', 'DATABASE_URL is not a URL'],
    ['postgresql://wagergate:hush@127.0.0.1:1/gateway?schema=two', 'options=-c%20search_path%3D'],
  ])('says what is wrong with the database %s, never its password', async (url, why) => {
    const { code, stderr } = await wagergate(['bet', 'b'], { env: { DATABASE_URL: url } });
    expect(code).toBe(1);
    expect(stderr).toMatch(/^error: .*\n$/);
    expect(stderr).toContain(why);
    expect(stderr).not.toContain('hush');
  });
});

describe('a command whose output nobody reads', () => {
  /** A folder with a wallet secret so short that it causes a warning. */
  const folderOf = (id: string) =>
    folderWith({
      'gateway.yaml': GATEWAY,
      [`operators/${id}.yaml`]: operatorYaml(id).replace(walletSecret(id), 'only-16-letters!'),
    });

  it('ends with its own code, as behind `| head`', async () => {
    const args = ['config', 'diff', '--exit-code', '--folder', folderOf('alpha')];
    const differs = await spawnWagergate([...args, '--against', folderOf('beta')], {
      unread: 'stdout',
    });
    expect(differs).toMatchObject({ code: 1, stderr: expect.stringContaining('differs from') });
    const check = ['config', 'check', '--folder', folderOf('alpha')];
    expect(await spawnWagergate(check, { unread: 'stdout' })).toMatchObject({ code: 0 });
  });

  it('fails where the disk is full, and says so', async () => {
    const check = ['config', 'check', '--folder', folderOf('alpha')];
    const { code, stderr } = await spawnInto('/dev/full', check);
    expect(code).toBe(1);
    expect(stderr).toMatch(/^error: not all of the output could be written: .*ENOSPC/m);
  });

  it('continues if nobody reads its warnings', async () => {
    const check = ['config', 'check', '--folder', folderOf('alpha')];
    const { code, stdout } = await spawnWagergate(check, { unread: 'stderr' });
    expect(code).toBe(0);
    expect(stdout).toMatch(/^alpha +Operator alpha /m);
  });
});
