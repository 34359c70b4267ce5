import fc from 'fast-check';
import { openApiDocument } from '../../../src/openapi/document.ts';
import type { JsonSchema } from '../../../src/openapi/parts.ts';

/** Text that somebody might really send where a schema asks only for text. */
const TEXTS = ['x', 'EUR', 'USD', 'player-17', 'won', '2026-11-22T00:00:00Z', '\u{1F3B2}', '\0'];

/**
 * Values as a JSON Schema of the OpenAPI document describes them, bounds included: what a client generated from it
 * would send.
 */
export function valuesOf(schema: JsonSchema, depth = 0): fc.Arbitrary<unknown> {
  const { $ref, enum: words } = schema;
  if (typeof $ref === 'string') return valuesOf(referred($ref), depth);
  if ('const' in schema) return fc.constant(schema.const);
  if (Array.isArray(words)) return fc.constantFrom<unknown>(...words);
  const choices = schema.anyOf ?? (schema.properties === undefined ? schema.oneOf : undefined);
  if (Array.isArray(choices)) {
    return fc.oneof(...choices.map((choice: JsonSchema) => valuesOf(choice, depth)));
  }
  const types = [schema.type ?? (schema.properties === undefined ? 'any' : 'object')].flat();
  return fc.oneof(...types.map((type) => ofType(String(type), schema, depth)));
}

function ofType(type: string, schema: JsonSchema, depth: number): fc.Arbitrary<unknown> {
  switch (type) {
    case 'null':
      return fc.constant(null);
    case 'boolean':
      return fc.boolean();
    case 'integer':
      return fc.integer({ min: numberOf(schema.minimum, -5), max: numberOf(schema.maximum, 100) });
    case 'number':
      return fc.oneof(fc.constantFrom(0, 1, 12.1), fc.double({ min: 0, max: 1e6, noNaN: true }));
    case 'string':
      return textOf(schema);
    case 'array': {
      const lengthMin = numberOf(schema.minItems, 0);
      const items = isSchema(schema.items) ? schema.items : {};
      const some = fc.array(valuesOf(items, depth + 1), {
        minLength: lengthMin,
        maxLength: lengthMin + 2,
      });
      return depth > 3 && lengthMin === 0 ? fc.constant([]) : some;
    }
    case 'object':
      return objectOf(schema, depth);
    default:
      return fc.jsonValue({ maxDepth: 1 });
  }
}

function objectOf(schema: JsonSchema, depth: number): fc.Arbitrary<unknown> {
  const properties = isSchema(schema.properties) ? schema.properties : {};
  const always = [schema.required ?? [], ...firstRequired(schema.oneOf)].flat().map(String);
  const members = Object.entries(properties).flatMap(([name, member]) =>
    isSchema(member) ? [[name, valuesOf(member, depth + 1)] as const] : [],
  );
  return fc.record(Object.fromEntries(members), {
    requiredKeys: always.filter((name) => name in properties),
  });
}

/** "Either this or that": the first is enough. */
function firstRequired(choices: unknown): unknown[] {
  const [first]: unknown[] = Array.isArray(choices) ? choices : [];
  return isSchema(first) && Array.isArray(first.required) ? first.required : [];
}

function textOf(schema: JsonSchema): fc.Arbitrary<string> {
  if (typeof schema.pattern === 'string') return fc.stringMatching(new RegExp(schema.pattern));
  const minLength = numberOf(schema.minLength, 0);
  const maxLength = Math.min(numberOf(schema.maxLength, 40), minLength + 300);
  return fc.oneof(
    fc.constantFrom(...TEXTS),
    fc.string({ minLength, maxLength }),
    fc.constantFrom('x'.repeat(minLength), 'x'.repeat(maxLength)),
  );
}

function referred(reference: string): JsonSchema {
  const name = reference.split('/').at(-1) ?? '';
  const schema = openApiDocument.components.schemas[name];
  if (schema === undefined) throw new Error(`the document has no ${reference}`);
  return schema;
}

function numberOf(value: unknown, usual: number): number {
  return typeof value === 'number' ? value : usual;
}

function isSchema(value: unknown): value is Record<string, JsonSchema> & JsonSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
