import { z } from 'zod';
import { gatewaySchema, operatorSchema } from './schema.ts';

/** A JSON Schema: only as much of its type as walking it needs. */
interface JsonSchema {
  readonly [keyword: string]: unknown;
}

/** A variable, which editors have to accept where another type or form is required. */
const VARIABLE: JsonSchema = { type: 'string', pattern: '\\$\\{[^{}]+\\}' };

/** Keywords that restrict a value so much that a variable would not match. */
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

/** The schema of a file before its variables are replaced. */
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
