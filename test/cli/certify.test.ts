import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { request as forward } from 'node:http';
import { createServer } from 'node:https';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { listenOn } from '../../tools/simulator/wallet/listener.ts';
import { PLAYER, SECRET, sandbox } from '../certify/support/certification.ts';
import { without } from '../certify/support/flawed-answers.ts';
import {
  ignoresRollbackOfSettled,
  refundsTwice,
  refusesUnknownRollbacks,
} from '../certify/support/flawed-wallets.ts';
import { folderWith, GATEWAY, operatorYaml, walletSecret } from '../config/support/folder.ts';
import { COMPILED } from '../support/compiled.ts';
import { SELF_SIGNED } from '../wallets/support/self-signed.ts';
import { certify, folderFor, WHO } from './support/certify-runs.ts';
import { spawnWagergate, wagergate } from './support/command-line.ts';

describe('wagergate certify', () => {
  it('passes a good wallet: a table, two files, code 0', async () => {
    const folder = folderFor(await sandbox());
    const { code, stdout, stderr } = await certify(folder);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^Signatures\nverdict +case +what\n-+/);
    expect(stdout).toMatch(/✓ passed +place-enough +A place debits the stake\n/);
    expect(stdout).toContain('Money: 1000 USD, as before');
    expect(stdout).toMatch(/\d+ of \d+ cases passed, 3 skipped\n\nFit: .*\n$/);
    expect(stdout).not.toContain('\u001b');
    expect(stderr).toMatch(/^1\/\d+ signature-good\n2\/\d+ /);
    const certificate = JSON.parse(readFileSync(join(folder, 'out/certificate.json'), 'utf8'));
    expect(certificate).toMatchObject({
      schemaVersion: 2,
      verdict: 'fit',
      findings: [],
      kit: { name: 'wagergate' },
      operator: 'alpha',
      player: { userId: 'ann', currency: 'USD' },
      dialect: {},
    });
    const report = readFileSync(join(folder, 'out/certificate.html'), 'utf8');
    expect(report).toContain('Wallet of alpha');
  });

  it('fails a flawed one: what was seen, which dialect would help, code 1', async () => {
    const folder = folderFor(await sandbox({ ...without('transactionId'), ...refundsTwice }));
    const only = ['--only', 'rollback', 'shape-transaction-id'];
    const { code, stdout, stderr } = await certify(folder, ...only);
    expect(code).toBe(1);
    expect(stdout).toMatch(/✗ failed +rollback-twice/);
    expect(stdout).toMatch(
      /✗ rollback-twice: costs money when an answer is lost\n +expected: .*\n +seen: .*\n +to do: /,
    );
    expect(stdout).toMatch(
      /wallet:\n {2}dialect:\n {4}# .*\n {4}echo: ignore\nWith this: \d+ → \d+ passed/,
    );
    expect(stdout).toMatch(/Not fit: .*\n$/);
    expect(stderr).toMatch(/\nerror: the wallet is not fit: see the report\n$/);
  });

  it('prints what it withholds as YAML that can be read', async () => {
    const wallet = await sandbox({
      flaw: (call, books) =>
        refusesUnknownRollbacks.flaw?.(call, books) ??
        ignoresRollbackOfSettled(5).flaw?.(call, books),
    });
    const { stdout } = await certify(folderFor(wallet), '--only', 'rollback');
    expect(stdout).toContain('Withheld from it\n  rollbackConfirmedBy:\n    - 5\n    rollback was');
  });

  it("applies the operator's dialect, and leaves it out under --strict", async () => {
    const wallet = await sandbox(without('transactionId'));
    const folder = folderFor(wallet, '{ echo: ignore }');
    const only = ['--only', 'place', 'shape-transaction-id'];
    const lenient = await certify(folder, '--json', ...only);
    expect(lenient.code).toBe(0);
    expect(JSON.parse(lenient.stdout)).toMatchObject({
      strict: false,
      verdict: 'fit_with_dialect',
      dialect: { echo: 'ignore' },
    });
    const strict = await certify(folder, '--json', '--strict', ...only);
    expect(strict.code).toBe(0);
    expect(JSON.parse(strict.stdout)).toMatchObject({
      strict: true,
      dialect: {},
      verdict: 'fit_with_dialect',
      suggestions: [{ item: 'echo' }],
    });
  });

  it('keeps paths and headers under --strict: without them nothing is reached', async () => {
    const wallet = await sandbox({ paths: { profile: '/me', balance: '/money', bet: '/bets' } });
    const paths = 'paths: { profile: /me, balance: /money, bet: /bets }';
    const folder = folderFor(wallet, `{ ${paths}, emptyOk: true }`);
    const { code, stdout } = await certify(folder, '--json', '--strict', '--only', 'unsettle');
    expect(code).toBe(0);
    expect(JSON.parse(stdout).dialect).toEqual({
      paths: { profile: '/me', balance: '/money', bet: '/bets' },
    });
  });

  it('takes another address and some groups', async () => {
    const folder = folderWith({
      'gateway.yaml': GATEWAY,
      'operators/alpha.yaml': operatorYaml('alpha').replace(walletSecret('alpha'), SECRET),
    });
    const wallet = await sandbox();
    const args = ['--wallet', wallet.baseUrl, '--currency', 'USD'];
    const { code, stdout } = await certify(folder, ...args, '--only', 'profile', 'balance');
    expect(code).toBe(0);
    expect(stdout).toMatch(/^Profile\n/);
    expect(stdout).toMatch(/\nBalance\n/);
    expect(stdout).not.toMatch(/\nPlace\n/);
    expect(stdout).toContain('Only some of the cases were run.');
  });

  it('touches no wallet that is not marked as a sandbox: code 2, no files', async () => {
    const wallet = await sandbox({}, { isTest: false });
    const folder = folderFor(wallet);
    const { code, stdout, stderr } = await certify(folder);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(/^error: not certified: .*isTest: true.*--i-know.*\n$/);
    expect(wallet.bets.size).toBe(0);
    expect(() => readFileSync(join(folder, 'out/certificate.json'))).toThrow('ENOENT');
    const known = await certify(folder, '--i-know', '--only', 'place');
    expect(known.code).toBe(0);
    expect(known.stderr).toMatch(/^warning: .*real money may move\n/);
  });

  it.each([
    [['--operator', 'beta'], 'no operator beta in .*: there is alpha'],
    [['--wallet', 'sandbox.example'], '--wallet is not an address'],
    [['--other-user', 'bob'], 'give both --other-user and --other-token'],
    [['--only', 'plaice'], '--only plaice is neither a group .*nor a case'],
    [['--only', 'rollback-t'], 'there is rollback-twice'],
    [
      ['--other-user', 'ann', '--other-token', 'another-token'],
      'must be of another player than --user',
    ],
    [['--token-env', 'X'], 'give one of --token, --token-env and --token-file'],
    [['--ca', '/nowhere/ca.pem'], '--ca /nowhere/ca.pem does not exist'],
  ])('%j is not understood: code 2', async (args, why) => {
    const folder = folderFor(await sandbox());
    const { code, stdout, stderr } = await certify(folder, ...args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(new RegExp(`^error: .*${why}.*\n$`));
  });

  it.each([
    // With the second path, Node's own recursive mkdir would not return.
    ['--out', 'gateway.yaml', /^error: --out \S+: nothing can be written there \(.+\)\n$/],
    ['--out', '/proc/nowhere/x', /^error: --out \S+: nothing can be written there \(.+\)\n$/],
    [
      '--export-har',
      '/proc/nowhere/x',
      /^error: --export-har \S+ cannot be written: ENOENT: .+\n$/,
    ],
  ])('says that %s %s cannot be written, before it calls the wallet', async (option, to, why) => {
    const wallet = await sandbox();
    const folder = folderFor(wallet);
    const args = [option, resolve(folder, to)];
    const { code, stderr } = await certify(folder, '--only', 'profile', ...args);
    expect([code, wallet.requests]).toEqual([2, []]);
    expect(stderr).toMatch(why);
  });

  it.each([
    // Both the terminal and a launcher send it.
    { signals: ['SIGINT', 'SIGINT'], code: 130, when: 'at a Ctrl-C that comes twice' },
    { signals: ['SIGHUP'], code: 129, when: 'where the terminal goes away' },
  ] as const)(
    'ends with $code $when, gives the stakes back first and writes what there is',
    async ({ signals, code }) => {
      const wallet = await sandbox();
      const folder = folderFor(wallet);
      const program = fileURLToPath(new URL('../../src/cli/wagergate.ts', import.meta.url));
      const gate = wallet.hold('settle');
      const args = [program, 'certify', ...WHO, '--folder', folder, '--out', join(folder, 'out')];
      args.push('--only', 'signatures', 'settle');
      const child = spawn(process.execPath, args, { env: { PATH: process.env.PATH, ...COMPILED } });
      const closed = once(child, 'close');
      const told: string[] = [];
      const stopping = new Promise<void>((resolve) => {
        child.stderr.on('data', (chunk: Buffer) => {
          told.push(chunk.toString('utf8'));
          if (told.join('').includes('stopping')) resolve();
        });
      });
      await gate.arrived;
      for (const signal of signals) {
        child.kill(signal);
        await stopping;
      }
      gate.release();
      await closed;
      expect(child.exitCode).toBe(code);
      expect(told.join('')).toMatch(/\ninterrupted\n$/);
      expect(wallet.balance('ann', 'USD')).toBe('1000');
      const certificate = JSON.parse(readFileSync(join(folder, 'out/certificate.json'), 'utf8'));
      expect(certificate).toMatchObject({ ending: 'interrupted', verdict: 'not_fit' });
      expect(certificate.counts.passed).toBeGreaterThan(10);
    },
  );
});

describe('without a configuration', () => {
  /** A folder with the secret and the token in files. */
  function secrets(): string {
    return folderWith({ secret: `${SECRET}\n`, token: `${PLAYER.token}\n` });
  }
  const play = (folder: string, ...args: readonly string[]) =>
    wagergate([
      'certify',
      ...['--secret-file', join(folder, 'secret'), '--token-file', join(folder, 'token')],
      ...['--user', PLAYER.userId, '--currency', 'usd', '--out', join(folder, 'out'), ...args],
    ]);

  it('certifies by an address, a secret and a token in files', async () => {
    const wallet = await sandbox();
    const folder = secrets();
    const { code } = await play(folder, '--wallet', wallet.baseUrl, '--only', 'place');
    expect(code).toBe(0);
    const certificate = JSON.parse(readFileSync(join(folder, 'out/certificate.json'), 'utf8'));
    expect(certificate).toMatchObject({
      operator: new URL(wallet.baseUrl).host,
      player: { userId: 'ann', currency: 'USD' },
      verdict: 'fit',
    });
  });

  it('writes the report of a wallet that is away too: code 2', async () => {
    const wallet = await sandbox();
    await wallet.down();
    const folder = secrets();
    const { code, stderr } = await play(folder, '--wallet', wallet.baseUrl);
    expect(code).toBe(2);
    expect(stderr).toMatch(/error: not certified: the profile was not given: no answer .*\n$/);
    const report = readFileSync(join(folder, 'out/certificate.html'), 'utf8');
    expect(report).toContain('$WALLET_SECRET');
  });

  it('says what is missing: code 2', async () => {
    const { code, stderr } = await play(secrets());
    expect(code).toBe(2);
    expect(stderr).toMatch(/^error: name the wallet: .*--wallet with --secret-file/);
  });

  it('runs one case and shows every request and answer, and writes an archive', async () => {
    const wallet = await sandbox();
    const folder = secrets();
    const har = join(folder, 'run.har');
    const args = ['--wallet', wallet.baseUrl, '--only', 'rollback-once', '--verbose'];
    const { code, stderr } = await play(folder, ...args, '--export-har', har);
    expect(code).toBe(0);
    expect(stderr).toMatch(/\n {2}> PUT http:\S+\/payment\/bet\n[\s\S]* {2}< HTTP 200\n/);
    expect(stderr).toContain('curl -sS');
    expect(stderr).not.toContain(PLAYER.token);
    const text = readFileSync(har, 'utf8');
    expect(JSON.parse(text).log.entries.length).toBe(4);
    for (const secret of [PLAYER.token, SECRET]) expect(text).not.toContain(secret);
  });
});

describe('over TLS', () => {
  it('certifies a wallet of a private authority', async () => {
    const wallet = await sandbox();
    const server = createServer(SELF_SIGNED, (request, response) => {
      const { method, headers, url } = request;
      const target = { port: wallet.port, path: url, method, headers };
      const forwarded = forward(target, (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(response);
      });
      request.pipe(forwarded);
    });
    onTestFinished(() => void server.close());
    const port = await listenOn(server, 0);
    const folder = folderWith({ ca: SELF_SIGNED.cert, secret: SECRET });
    const args = [
      ...['certify', '--wallet', `https://127.0.0.1:${port}/sportsbook`, '--currency', 'USD'],
      ...['--secret-file', join(folder, 'secret'), '--user', PLAYER.userId, '--token-env', 'T'],
      ...['--out', join(folder, 'out'), '--json', '--only', 'profile', 'place'],
    ];
    // In separate processes: a process trusts authorities as a whole.
    const around = { env: { T: PLAYER.token } };
    const stranger = await spawnWagergate(args, around);
    expect(stranger.code).toBe(2);
    expect(stranger.stderr).toMatch(/self-signed certificate/i);
    const trusted = await spawnWagergate([...args, '--ca', join(folder, 'ca')], around);
    expect(trusted.code).toBe(0);
    const certificate = JSON.parse(trusted.stdout);
    expect(certificate.verdict).toBe('fit');
  });
});
