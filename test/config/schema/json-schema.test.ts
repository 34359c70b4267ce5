import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { jsonSchemaFiles } from '../../../src/config/schema/json-schema.ts';

const FILES = Object.entries(jsonSchemaFiles());

const published = (name: string) =>
  readFileSync(new URL(`../../../config/${name}`, import.meta.url), 'utf8');

/** What an editor that uses the published schema says about a file's content. */
const accepts = (name: string, content: unknown) =>
  z.fromJSONSchema(JSON.parse(published(name))).safeParse(content).success;

const OPERATOR = {
  id: 'alpha',
  name: 'Alpha',
  wallet: { baseUrl: '${URL}', secrets: ['${SECRET}'] },
  api: { cid: 'alpha-key', secrets: ['${SECRET}'] },
  currencies: ['EUR'],
};

describe('the published JSON Schemas', () => {
  it.each(FILES)('config/%s is what the schema in the source gives', (name, text) => {
    const hint = 'write the files anew with: npm run schema';
    expect(published(name), hint).toBe(text);
  });

  it.each(FILES)('config/%s explains every setting to editors', (_name, text) => {
    const unexplained: string[] = [];
    const walk = (schema: unknown, path: string) => {
      const { properties, items, additionalProperties } = Object(schema);
      for (const [key, inner] of Object.entries(properties ?? {})) {
        if (!Object(inner).description) unexplained.push(`${path}.${key}`);
        walk(inner, `${path}.${key}`);
      }
      for (const inner of [items, additionalProperties].filter((it) => typeof it === 'object')) {
        if (!inner.description) unexplained.push(`${path}[]`);
        walk(inner, `${path}[]`);
      }
    };
    walk(JSON.parse(text), '');
    expect(unexplained).toEqual([]);
  });

  it('take the least that a file must say, and refuse less', () => {
    expect(accepts('operator.schema.json', OPERATOR)).toBe(true);
    expect(accepts('operator.schema.json', { ...OPERATOR, currencies: undefined })).toBe(false);
    expect(accepts('gateway.schema.json', { service: { cid: 'x', secrets: ['y'] } })).toBe(false);
  });

  it('take a variable where a number is asked for, but no other text', () => {
    const withGeneration = (generation: unknown) => ({
      ...OPERATOR,
      wallet: { ...OPERATOR.wallet, generation },
    });
    expect(accepts('operator.schema.json', withGeneration(2))).toBe(true);
    expect(accepts('operator.schema.json', withGeneration('${GENERATION}'))).toBe(true);
    expect(accepts('operator.schema.json', withGeneration('two'))).toBe(false);
  });

  it('refuse unknown keys', () => {
    expect(accepts('operator.schema.json', { ...OPERATOR, wallets: {} })).toBe(false);
  });
});
