import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { BetOperation } from '../../../src/domain/operation.ts';
import type { AdapterFactory, WalletAdapter } from '../../../src/wallets/adapters/adapter.ts';
import { callerDialectOf } from '../../../src/wallets/adapters/dialect.ts';
import { betCall, manualClock, readCall, walletSettings } from '../support/calls.ts';

/** Runs the adapter that docs/adding-an-adapter.md prints, exactly as printed. */

const ROOT = resolve(import.meta.dirname, '../../..');

let folder: string;
let printed: string;
let acme: WalletAdapter;

beforeAll(async () => {
  const page = await readFile(join(ROOT, 'docs/adding-an-adapter.md'), 'utf8');
  printed = /^```ts\n(import .*?)^```/ms.exec(page)?.[1] ?? '';
  const inRoot = (path: string) => pathToFileURL(join(ROOT, 'src', path)).href;
  const code = printed
    .replaceAll(/'\.\.\/\.\.\/(.*?)'/g, (_, path: string) => `'${inRoot(path)}'`)
    .replaceAll(/'(\.\.?)\/(.*?)'/g, (_, dots: string, path: string) =>
      dots === '..' ? `'${inRoot(`wallets/${path}`)}'` : `'${inRoot(`wallets/adapters/${path}`)}'`,
    );
  folder = await mkdtemp(join(tmpdir(), 'wagergate-test-'));
  const file = join(folder, 'acme.ts');
  await writeFile(file, code);
  const module: { readonly acmeAdapter: AdapterFactory } = await import(
    /* @vite-ignore */ pathToFileURL(file).href
  );
  acme = module.acmeAdapter(walletSettings(), manualClock());
});

afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
});

const answer = (text: string, status = 200) => ({ status, body: Buffer.from(text) });
const verdict = (operation: BetOperation, text: string, status?: number) =>
  acme.betVerdict(betCall({ operation, transactionId: 't-1' }), answer(text, status)).kind;

it('imports only what its modules export, types included, which do not exist at run time', async () => {
  const imports = [...printed.matchAll(/^import (?:type )?\{([^}]*)\} from '(\.[^']*)';/gm)];
  expect(imports.length).toBeGreaterThan(5);
  for (const [, names = '', path = ''] of imports) {
    const module = await readFile(join(ROOT, 'src/wallets/adapters', path), 'utf8');
    for (const name of names.split(',').map((one) => one.trim().replace(/^type /, ''))) {
      if (name === '') continue;
      expect(module, `${name} of ${path}`).toMatch(new RegExp(`^export .*\\b${name}\\b`, 'm'));
    }
  }
});

it('names every item that callers keep', () => {
  expect(Object.keys(acme.callerDialect)).toEqual(Object.keys(callerDialectOf({})));
});

it('takes for a decline only what the wallet itself refused with a definite code (I2)', () => {
  expect(verdict('place', '{"ok":true,"ref":"t-1"}')).toBe('accepted');
  expect(verdict('place', '{"ok":false,"why":7}')).toBe('declined');
  expect(verdict('place', '{"ok":true,"ref":"t-2"}')).toBe('unknown');
  expect(verdict('place', '{"ok":false,"why":7}', 500)).toBe('unknown');
  for (const open of [8, 10, 100]) {
    expect(verdict('place', `{"ok":false,"why":${open}}`)).toBe('unknown');
  }
});

it('passes numbers on as they were written (I9)', () => {
  const call = betCall({ operation: 'place', transactionId: 't-1', body: '{"amount":12.10}' });
  expect(acme.betRequest(call, 1_000).body.toString()).toBe(
    '{"do":"place","data":{"amount":12.10}}',
  );
  const balance = readCall({ operation: 'balance' });
  expect(acme.readVerdict(balance, answer('{"ok":true,"money":12.10}'))).toMatchObject({
    kind: 'answered',
    document: { text: '{"amount":12.10}' },
  });
});
