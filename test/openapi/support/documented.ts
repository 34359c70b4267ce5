import { expect } from 'vitest';
import { openApiDocument } from '../../../src/openapi/document.ts';
import type { Endpoint } from '../../../src/openapi/parts.ts';
import { faults, step } from './schemas.ts';

/** A route of the document. */
export interface Documented {
  readonly route: string;
  readonly pointer: string;
  readonly endpoint: Endpoint;
}

export const documented: readonly Documented[] = Object.entries(openApiDocument.paths).flatMap(
  ([path, methods]) =>
    Object.entries(methods).map(([method, endpoint]) => ({
      route: `${method.toUpperCase()} ${path}`,
      pointer: `/paths/${step(path)}/${method}`,
      endpoint,
    })),
);

const CONTENT = `content/${step('application/json')}`;

/** Expects the answer's status to be documented for the route, and its body to match the document. */
export function expectDocumented(
  route: string,
  answer: { readonly status: number; readonly body: string },
): void {
  const found = documented.find((known) => known.route === route);
  const statuses = Object.keys(found?.endpoint.responses ?? {});
  const range = `${String(answer.status)[0]}XX`;
  // A status by itself comes before its range.
  const status = [String(answer.status), range].find((known) => statuses.includes(known)) ?? '';
  expect(status, `${route} ${answer.status} ${answer.body}`).not.toBe('');
  const body: unknown = JSON.parse(answer.body);
  const pointer = `${found?.pointer}/responses/${status}/${CONTENT}/schema`;
  expect(faults(pointer, body), `${route} ${answer.body}`).toEqual([]);
  // The service may add anything to its bonuses.
  if (found?.endpoint.tags.includes('bonuses') && answer.status === 200) return;
  expect(undescribed(found?.endpoint.responses[status], body)).toEqual([]);
}

/** Members of an answer that its schema does not name; only in our own answers: a wallet may add anything. */
function undescribed(response: Endpoint['responses'][string] | undefined, body: unknown): string[] {
  const { $ref } = response?.content['application/json'].schema ?? {};
  const name = typeof $ref === 'string' ? ($ref.split('/').at(-1) ?? '') : '';
  if (name === 'Profile' || name === 'Balance') return [];
  return unnamed(openApiDocument.components.schemas[name], body, name);
}

function unnamed(schema: unknown, value: unknown, where: string): string[] {
  if (Array.isArray(value)) {
    const items = isObject(schema) ? schema.items : undefined;
    return value.flatMap((item) => unnamed(items, item, `${where}[]`));
  }
  if (!isObject(value)) return [];
  const properties = isObject(schema) && isObject(schema.properties) ? schema.properties : {};
  return Object.entries(value).flatMap(([name, member]) =>
    name in properties
      ? unnamed(properties[name], member, `${where}.${name}`)
      : [`${where}.${name}`],
  );
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
