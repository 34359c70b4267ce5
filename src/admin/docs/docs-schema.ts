import { type Html, html, prose } from '../../lib/html.ts';
import type { JsonSchema, OpenApiDocument } from '../../openapi/parts.ts';

/** A member of a message, with its path from the outermost object: `operations[].attempts[].code`. */
interface Member {
  readonly path: string;
  readonly type: string;
  readonly isRequired: boolean;
  readonly description: string;
}

/** The schema itself, following a `$ref` within the document. */
export function resolved(document: OpenApiDocument, schema: JsonSchema): JsonSchema {
  const { $ref } = schema;
  if (typeof $ref !== 'string') return schema;
  return document.components.schemas[$ref.split('/').at(-1) ?? ''] ?? {};
}

/** A schema as tables, one per kind of message it allows. */
export function schemaTables(document: OpenApiDocument, schema: JsonSchema): Html {
  const { oneOf } = schema;
  // Without own properties, the alternatives are whole messages; otherwise they only say which members go together.
  if (Array.isArray(oneOf) && schema.properties === undefined) {
    return html`${oneOf.filter(isSchema).map((one) => schemaTable(resolved(document, one)))}`;
  }
  return schemaTable(schema);
}

function schemaTable(schema: JsonSchema): Html {
  const rows = membersOf(schema, '').map(
    ({ path, type, isRequired, description }) => html`<tr>
<td><code>${path}</code>${isRequired ? html`<span class="required">required</span>` : ''}</td>
<td class="type">${type}</td><td>${prose(description)}</td></tr>`,
  );
  const { description } = schema;
  return html`${typeof description === 'string' ? html`<p>${prose(sentence(description))}</p>` : ''}
<table><thead><tr><th>Member</th><th>Type</th><th>Meaning</th></tr></thead>
<tbody>${rows}</tbody></table>`;
}

function membersOf(schema: JsonSchema, above: string): Member[] {
  const { properties, required } = schema;
  if (!isSchema(properties)) return [];
  const needed: readonly unknown[] = Array.isArray(required) ? required : [];
  return Object.entries(properties).flatMap(([name, member]) => {
    if (!isSchema(member)) return [];
    const path = `${above}${name}`;
    const { description, items } = member;
    return [
      {
        path,
        type: typeOf(member),
        isRequired: needed.includes(name),
        description: typeof description === 'string' ? description : '',
      },
      ...membersOf(member, `${path}.`),
      ...(isSchema(items) ? membersOf(items, `${path}[].`) : []),
    ];
  });
}

/** A member's type and bounds in words. */
function typeOf(schema: JsonSchema): string {
  if ('const' in schema) return JSON.stringify(schema.const);
  if (Array.isArray(schema.enum)) return schema.enum.map((word) => String(word)).join(', ');
  const { type } = schema;
  const words = Array.isArray(type) ? type.join(' or ') : typeof type === 'string' ? type : 'any';
  return [words, ...boundsOf(schema)].join(', ');
}

function boundsOf({ minLength, maxLength, minimum, maximum, format }: JsonSchema): string[] {
  const bounds: string[] = [];
  if (maxLength !== undefined) bounds.push(`${minLength ?? 0} to ${maxLength} characters`);
  if (minimum !== undefined && maximum !== undefined) bounds.push(`${minimum} to ${maximum}`);
  else if (minimum !== undefined) bounds.push(`${minimum} or more`);
  if (format !== undefined) bounds.push(String(format));
  return bounds;
}

function sentence(text: string): string {
  return text.endsWith('.') ? text : `${text}.`;
}

function isSchema(value: unknown): value is JsonSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
