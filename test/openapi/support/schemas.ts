import { Ajv2020 } from 'ajv/dist/2020.js';
import { openApiDocument } from '../../../src/openapi/document.ts';

const ajv = new Ajv2020({
  strict: true,
  strictRequired: false,
  allowUnionTypes: true,
  validateFormats: false,
});
// The document's own members; everything below them is checked strictly, including misspelled keywords.
ajv.addVocabulary(Object.keys(openApiDocument));
ajv.addSchema(openApiDocument, 'document');

/**
 * What is wrong with a value, in words; empty if it matches the document.
 * @param pointer a JSON pointer to a schema in the OpenAPI document
 */
export function faults(pointer: string, value: unknown): string[] {
  const validate = ajv.getSchema(`document#${encodeURI(pointer)}`);
  if (validate === undefined) throw new Error(`the document has no ${pointer}`);
  if (validate(value) === true) return [];
  return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
}

/** As `faults`, for a schema of the components. */
export function faultsAs(schema: string, value: unknown): string[] {
  return faults(`/components/schemas/${schema}`, value);
}

/** A step of a JSON pointer. */
export function step(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}
