import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  AGREED_SECRET_LENGTH_GOOD,
  AGREED_SECRET_LENGTH_MIN,
} from '../../src/config/schema/fields.ts';
import fixture from '../fixtures/vectors.json' with { type: 'json' };
import {
  apiSecret,
  GATEWAY,
  operatorYaml,
  problemsOf,
  SERVICE_SECRET,
  walletSecret,
} from './support/folder.ts';
import { sourceOn } from './support/source-on.ts';

const warningsOf = ({ log }: ReturnType<typeof sourceOn>) =>
  log.filter(({ level }) => level === 'warn').map(({ facts }) => facts);

describe('a secret', () => {
  it('has at least 32 characters where this side chooses it', () => {
    const weak = 'x'.repeat(31);
    expect(
      problemsOf({
        'operators/alpha.yaml': operatorYaml('alpha').replace(apiSecret('alpha'), weak),
      }),
    ).toEqual([
      'operators/alpha.yaml: api.secrets[0]: must have at least 32 characters: make one with openssl rand -base64 32',
    ]);
  });

  it('has at least 8 where it is agreed with others', () => {
    const weak = 'x'.repeat(7);
    const reason = 'must have at least 8 characters: make one with openssl rand -base64 32';
    const upstream = `bonuses: { upstream: { cid: own, secrets: ["${weak}"] } }`;
    const alpha = operatorYaml('alpha', upstream).replace(walletSecret('alpha'), weak);
    expect(
      problemsOf({
        'gateway.yaml': GATEWAY.replace(SERVICE_SECRET, weak),
        'operators/alpha.yaml': alpha,
      }),
    ).toEqual([
      `gateway.yaml: service.secrets[0]: ${reason}`,
      `operators/alpha.yaml: wallet.secrets[0]: ${reason}`,
      `operators/alpha.yaml: bonuses.upstream.secrets[0]: ${reason}`,
    ]);
  });

  it('is taken where the other side chose one as short as the service’s published one, and warned of', () => {
    const secret = String(fixture.vectors[0]?.secret);
    const on = sourceOn({
      'gateway.yaml': GATEWAY.replace(SERVICE_SECRET, secret),
      'operators/alpha.yaml': operatorYaml('alpha'),
    });
    const reason =
      'has fewer than 16 characters, so whoever sees one signed request may find it by trying: agree on a longer one';
    expect(warningsOf(on)).toEqual([{ file: 'gateway.yaml', path: 'service.secrets[0]', reason }]);
  });

  it('may be as short as the commented example says', () => {
    const example = resolve(import.meta.dirname, '../../config/operators/alpha.yaml');
    const said =
      /signs what the gateway sends. At least (\d+) characters; below (\d+)\s+# there is a warning/;
    const [, least = '', good = ''] = said.exec(readFileSync(example, 'utf8')) ?? [];
    const lengths = [AGREED_SECRET_LENGTH_MIN, AGREED_SECRET_LENGTH_GOOD];
    expect([least, good].map(Number)).toEqual(lengths);
  });

  it('is warned of below 32, once and without the secret', async () => {
    const short = '0123456789abcdef';
    const on = sourceOn({
      'gateway.yaml': GATEWAY.replace(SERVICE_SECRET, `${short}-s`),
      'operators/alpha.yaml': operatorYaml('alpha').replace(walletSecret('alpha'), short),
      'operators/beta.yaml': operatorYaml('beta'),
    });
    const reason = 'has fewer than 32 characters: agree on a longer one';
    expect(warningsOf(on)).toEqual([
      { file: 'gateway.yaml', path: 'service.secrets[0]', reason },
      { file: 'operators/alpha.yaml', path: 'wallet.secrets[0]', reason },
    ]);
    on.put('operators/beta.yaml', operatorYaml('beta', 'status: maintenance'));
    await on.source.reload();
    expect(warningsOf(on)).toHaveLength(2);
    expect(JSON.stringify(on.log)).not.toContain(short);
  });

  it('is warned of where a blank or a line break stands around it, which the other side may lack', () => {
    const around = operatorYaml('alpha')
      .replace(walletSecret('alpha'), `"${walletSecret('alpha')}\\n"`)
      .replace(apiSecret('alpha'), `" ${apiSecret('alpha')}"`);
    const service = `"${SERVICE_SECRET}\\n"`;
    const warned = warningsOf(
      sourceOn({
        'gateway.yaml': GATEWAY.replace(SERVICE_SECRET, service),
        'operators/alpha.yaml': around,
      }),
    );
    const reason =
      'begins or ends with a space or a line break, which counts: remove it unless the other side has it too';
    expect(warned).toEqual([
      { file: 'gateway.yaml', path: 'service.secrets[0]', reason },
      { file: 'operators/alpha.yaml', path: 'wallet.secrets[0]', reason },
      { file: 'operators/alpha.yaml', path: 'api.secrets[0]', reason },
    ]);
  });

  it.each([
    [
      'the name of a variable, without its braces',
      '$ALPHA_WALLET_SECRET',
      /is none, .*write \$\{NAME\}$/,
    ],
    ['in quotes of its own', `'"${walletSecret('alpha')}"'`, /^stands in quotes, which count: /],
  ])('is warned of where it is %s', (_, secret, reason) => {
    const alpha = operatorYaml('alpha').replace(walletSecret('alpha'), () => secret);
    const warned = warningsOf(sourceOn({ 'gateway.yaml': GATEWAY, 'operators/alpha.yaml': alpha }));
    const path = 'wallet.secrets[0]';
    expect(warned[0]).toMatchObject({ path, reason: expect.stringMatching(reason) });
  });

  it('is warned of where a header has the name of a variable, without its braces', () => {
    const dialect = '  dialect: { headers: { X-Api-Key: $ALPHA_API_KEY, X-Site: one } }';
    const alpha = operatorYaml('alpha', '', dialect);
    const warned = warningsOf(sourceOn({ 'gateway.yaml': GATEWAY, 'operators/alpha.yaml': alpha }));
    const reason = expect.stringMatching(/is none, .*write \$\{NAME\}$/);
    expect(warned).toMatchObject([{ path: 'wallet.dialect.headers.X-Api-Key', reason }]);
  });

  it('is warned of where one secret signs in both directions', () => {
    const both = operatorYaml('alpha').replace(walletSecret('alpha'), apiSecret('alpha'));
    const warned = warningsOf(sourceOn({ 'gateway.yaml': GATEWAY, 'operators/alpha.yaml': both }));
    expect(warned).toMatchObject([{ path: 'api.secrets[0]' }]);
  });
});
