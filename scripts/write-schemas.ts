// Writes every JSON Schema that the repository keeps: of the configuration and of certificates.
import { writeFileSync } from 'node:fs';
import { certificateJsonSchema } from '../src/certify/certificate/certificate.ts';
import { jsonSchemaFiles } from '../src/config/schema/json-schema.ts';

const files = [
  ...Object.entries(jsonSchemaFiles()).map(([name, text]) => [`config/${name}`, text] as const),
  ['docs/certificate.schema.json', certificateJsonSchema()] as const,
];
for (const [file, text] of files) {
  writeFileSync(new URL(`../${file}`, import.meta.url), text);
  console.log(`written: ${file}`);
}
