/** Writes the JSON Schemas into `config/`: run `node src/config/schema/write-json-schema.ts` after each change. */
import { writeFileSync } from 'node:fs';
import { jsonSchemaFiles } from './json-schema.ts';

for (const [name, text] of Object.entries(jsonSchemaFiles())) {
  const file = new URL(`../../../config/${name}`, import.meta.url);
  writeFileSync(file, text);
  console.log(`written: config/${name}`);
}
