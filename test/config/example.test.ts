import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { loadConfiguration } from '../../src/config/loader.ts';
import { dialectSchema } from '../../src/config/schema/dialect-schema.ts';
import { gatewaySchema, operatorSchema } from '../../src/config/schema/schema.ts';
import { folderWith } from './support/folder.ts';

const folder = fileURLToPath(new URL('../../config', import.meta.url));

const ENVIRONMENT = {
  SERVICE_SECRET: 'the-services-secret',
  SERVICE_BONUS_URL: 'http://127.0.0.1:4000',
  ALPHA_WALLET_URL: 'http://127.0.0.1:4001',
  ALPHA_WALLET_SECRET: 'alpha-wallet-secret',
  ALPHA_API_SECRET: 'alpha-api-secret-that-is-long-enough',
  BETA_WALLET_URL: 'http://127.0.0.1:4002',
  BETA_WALLET_SECRET: 'beta-wallet-secret',
  BETA_API_SECRET: 'beta-api-secret-that-is-long-enough',
};

const example = (name: string) => readFileSync(`${folder}/${name}`, 'utf8');

/** A line that shows a setting after a #; explanations are written so that none looks like one. */
const SHOWN = /^( *)# ( *[a-zA-Z]+:(?: .*)?)$/gm;

/** Settings shown although they have no default. */
const SHOWN_ONLY = {
  delivery: { ratePerSecond: 50 },
  subPartnerId: 'alpha',
  wallet: { dialect: { okCodes: [0] } },
  bonuses: { upstream: { cid: 'alpha-at-the-service', secrets: ['alpha-upstream-secret'] } },
};

/** The names of all settings of a JSON Schema, those inside others included, except inside `shut`. */
function namesIn(schema: unknown, shut: readonly string[]): string[] {
  const properties: unknown =
    typeof schema === 'object' && schema !== null ? Reflect.get(schema, 'properties') : undefined;
  if (typeof properties !== 'object' || properties === null) return [];
  return Object.entries(properties).flatMap(([name, inner]) =>
    shut.includes(name) ? [name] : [name, ...namesIn(inner, shut)],
  );
}

describe("the repository's own configuration", () => {
  it('is accepted once its variables are set', () => {
    const { gateway, operators } = loadConfiguration(folder, ENVIRONMENT);
    expect(gateway.service.bonusApiUrl).toBe('http://127.0.0.1:4000');
    expect(operators.get('alpha')).toMatchObject({
      sessions: { mode: 'issued' },
      currencies: ['USD', 'EUR'],
      wallet: { baseUrl: 'http://127.0.0.1:4001', secrets: ['alpha-wallet-secret'] },
    });
    expect(operators.get('beta')).toMatchObject({
      sessions: { mode: 'prefixed' },
      currencies: ['EUR'],
    });
  });

  it('needs these variables and no other', () => {
    for (const name of Object.keys(ENVIRONMENT)) {
      const load = () => loadConfiguration(folder, { ...ENVIRONMENT, [name]: undefined });
      expect(load).toThrow(`\${${name}}`);
    }
  });

  it('shows every other setting with its default behind a #', () => {
    const asWritten = loadConfiguration(folder, ENVIRONMENT);
    const switchedOn = loadConfiguration(
      folderWith({
        'gateway.yaml': example('gateway.yaml').replaceAll(SHOWN, '$1$2'),
        'operators/alpha.yaml': example('operators/alpha.yaml').replaceAll(SHOWN, '$1$2'),
      }),
      { ...ENVIRONMENT, ALPHA_UPSTREAM_SECRET: 'alpha-upstream-secret' },
    );
    const { ratePerSecond: _rate, ...delivery } = switchedOn.gateway.delivery;
    expect({ ...switchedOn.gateway, delivery }).toEqual(asWritten.gateway);

    const before = asWritten.operators.get('alpha');
    const after = switchedOn.operators.get('alpha');
    expect(after).toEqual({
      ...before,
      subPartnerId: SHOWN_ONLY.subPartnerId,
      delivery: { ...before?.delivery, ...SHOWN_ONLY.delivery },
      bonuses: { ...before?.bonuses, ...SHOWN_ONLY.bonuses },
      wallet: {
        ...before?.wallet,
        dialect: { ...before?.wallet.dialect, ...SHOWN_ONLY.wallet.dialect },
      },
    });
  });

  it.each([
    ['gateway.yaml', gatewaySchema.shape],
    ['operators/alpha.yaml', operatorSchema.shape],
  ])('%s names every setting there is', (name, shape) => {
    for (const key of Object.keys(shape)) expect(example(name)).toMatch(`${key}:`);
  });

  it.each([
    ['gateway.yaml', 'gateway.schema.json', []],
    // What an operator may set of `delivery` stands in gateway.yaml; `mapCodes` has an item for each operation.
    ['operators/alpha.yaml', 'operator.schema.json', ['delivery', 'mapCodes']],
  ])('%s names every setting inside another', (name, schema, shut) => {
    const names = namesIn(JSON.parse(example(schema)), shut);
    expect(names.length).toBeGreaterThan(20);
    expect(names.filter((key) => !new RegExp(`\\b${key}\\b`).test(example(name)))).toEqual([]);
  });

  it('names every item of a dialect', () => {
    const shown = [...example('operators/alpha.yaml').matchAll(/^ {2}# {3}(\w+):/gm)];
    expect(shown.map(([, item]) => item)).toEqual(Object.keys(dialectSchema.shape));
  });
});
