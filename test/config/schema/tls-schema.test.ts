import { describe, expect, it } from 'vitest';
import { loadConfiguration } from '../../../src/config/loader.ts';
import { viewOf } from '../../../src/config/settings-view.ts';
import { AUTHORITY, CLIENT, SHORT, STRANGER } from '../../wallets/support/private-authority.ts';
import {
  alphaProblems,
  folderWith,
  GATEWAY,
  loadAlpha,
  operatorYaml,
  put,
} from '../support/folder.ts';

const TLS = '  tls: { ca: "${A}", cert: "${C}", key: "${K}" }';
const env = { A: AUTHORITY, C: CLIENT.cert, K: CLIENT.key };

describe('wallet.tls', () => {
  it('takes PEM through variables', () => {
    expect(loadAlpha('', TLS, env).wallet.tls).toEqual({ ca: AUTHORITY, ...CLIENT });
  });

  it('takes PEM from files, and from the file itself', () => {
    const folder = folderWith({ 'gateway.yaml': GATEWAY, 'tls/ca.pem': AUTHORITY });
    const block = AUTHORITY.trimEnd().replaceAll('\n', '\n      ');
    put(
      folder,
      'operators/alpha.yaml',
      operatorYaml('alpha', '', `  tls:\n    ca: \${file:${folder}/tls/ca.pem}`),
    );
    put(
      folder,
      'operators/beta.yaml',
      operatorYaml('beta', '', `  tls:\n    ca: |-\n      ${block}`),
    );
    const { operators } = loadConfiguration(folder, {});
    for (const id of ['alpha', 'beta']) {
      expect(operators.get(id)?.wallet.tls).toEqual({ ca: AUTHORITY.trim() });
    }
  });

  it('may be an authority alone, or a chain', () => {
    const chain = `${CLIENT.cert}${AUTHORITY}`;
    expect(loadAlpha('', '  tls: { ca: "${A}" }', { A: chain }).wallet.tls?.ca).toBe(chain);
    const own = '  tls: { cert: "${A}", key: "${K}" }';
    expect(loadAlpha('', own, { A: chain, K: CLIENT.key }).wallet.tls?.cert).toBe(chain);
  });

  it.each([
    ['a path', '  tls: { ca: /run/secrets/ca.pem }', /tls\.ca: must be certificates in PEM form/],
    ['a key as authority', '  tls: { ca: "${K}" }', /tls\.ca: must be certificates in PEM form/],
    ['half a certificate', '  tls: { ca: "${HALF}" }', /tls\.ca: must be certificates/],
    ['a certificate as key', '  tls: { cert: "${C}", key: "${C}" }', /tls\.key: must be a private/],
    ['a certificate alone', '  tls: { cert: "${C}" }', /tls\.key: is missing: cert and key/],
    ['a key alone', '  tls: { key: "${K}" }', /tls\.cert: is missing: cert and key/],
    ['another’s key', '  tls: { cert: "${C}", key: "${OTHER}" }', /tls\.key: is not the key of/],
    [
      'a short key',
      '  tls: { cert: "${SC}", key: "${SK}" }',
      /tls\.cert: cannot be shown .* small/,
    ],
    ['nothing', '  tls: {}', /tls: is empty/],
    [
      'plain http',
      '  allowPrivate: true\n  baseUrl: http://10.0.0.1\n  tls: { ca: "${A}" }',
      /tls: stands beside a plain http address/,
    ],
  ])('is refused for %s, without showing any of it', (_what, wallet, why) => {
    const short = { SC: SHORT.cert, SK: SHORT.key };
    const all = { ...env, ...short, OTHER: STRANGER.key, HALF: AUTHORITY.slice(0, 200) };
    const file = operatorYaml('alpha', '', wallet);
    const lines = wallet.includes('baseUrl')
      ? alphaProblems('', wallet, all).concat(
          linesOf(file.replace('  baseUrl: https://wallet.alpha.example/sportsbook\n', ''), all),
        )
      : alphaProblems('', wallet, all);
    expect(lines.join('\n')).toMatch(why);
    expect(lines.join('\n')).not.toMatch(/BEGIN|MI[A-Z]/);
  });

  it('never shows its key', async () => {
    const folder = folderWith({
      'gateway.yaml': GATEWAY,
      'operators/alpha.yaml': operatorYaml('alpha', '', TLS),
    });
    const view = await viewOf(loadConfiguration(folder, env), 'a key');
    expect(view.operators.alpha?.['wallet.tls.key']).toEqual({ secrets: [expect.any(String)] });
    expect(JSON.stringify(view)).not.toContain('PRIVATE KEY');
  });
});

function linesOf(file: string, env: NodeJS.ProcessEnv): string[] {
  try {
    loadConfiguration(folderWith({ 'gateway.yaml': GATEWAY, 'operators/alpha.yaml': file }), env);
    return [];
  } catch (error) {
    return String(error).split('\n');
  }
}
