import { z } from 'zod';
import { gatewaySchema, operatorSchema } from './schema.ts';

/** A schema as JSON: enough of its shape to walk it. */
interface JsonSchema {
  readonly [keyword: string]: unknown;
}

/** What editors are to let pass wherever a value of another kind or form is asked for. */
const VARIABLE: JsonSchema = { type: 'string', pattern: '\\$\\{[^{}]+\\}' };

/** Keywords that narrow a value so far that a variable would not pass. */
const NARROW = ['pattern', 'enum', 'const'];
const NARROW_TYPES: readonly unknown[] = ['integer', 'number', 'boolean'];

/** The published JSON Schemas, as text, by their file's name in the repository's `config/`. */
export function jsonSchemaFiles(): Readonly<Record<string, string>> {
  return {
    'gateway.schema.json': jsonSchemaText(gatewaySchema),
    'operator.schema.json': jsonSchemaText(operatorSchema),
  };
}

function jsonSchemaText(schema: z.ZodType): string {
  const { $schema, ...root } = z.toJSONSchema(schema, { io: 'input' });
  return `${JSON.stringify({ $schema, ...allowVariables(root) }, null, 2)}\n`;
}

/** The schema for a file before variables are put in their places. */
function allowVariables(schema: JsonSchema): JsonSchema {
  const { title, description, default: fallback, ...rules } = walk(schema);
  const narrow = NARROW_TYPES.includes(rules.type) || NARROW.some((keyword) => keyword in rules);
  const about = { title, description, default: fallback };
  if (Array.isArray(rules.anyOf)) return { ...about, anyOf: [...rules.anyOf, VARIABLE] };
  return narrow ? { ...about, anyOf: [rules, VARIABLE] } : { ...about, ...rules };
}

function walk(schema: JsonSchema): JsonSchema {
  const walked: Record<string, unknown> = { ...schema };
  for (const keyword of ['items', 'additionalProperties']) {
    const inner = schema[keyword];
    if (isSchema(inner)) walked[keyword] = allowVariables(inner);
  }
  const { properties } = schema;
  if (isSchema(properties)) {
    walked.properties = Object.fromEntries(
      Object.entries(properties).map(([key, inner]) => [
        key,
        isSchema(inner) ? allowVariables(inner) : inner,
      ]),
    );
  }
  return walked;
}

function isSchema(value: unknown): value is JsonSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
