/**
 * Writes the JSON Schemas for editors into the repository's `config/`. Run it after every
 * change to a schema: `node src/config/schema/write-json-schema.ts`.
 */
import { writeFileSync } from 'node:fs';
import { jsonSchemaFiles } from './json-schema.ts';

for (const [name, text] of Object.entries(jsonSchemaFiles())) {
  const file = new URL(`../../../config/${name}`, import.meta.url);
  writeFileSync(file, text);
  console.log(`written: config/${name}`);
}
