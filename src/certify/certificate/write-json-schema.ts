/** Writes the JSON Schema of certificate.json into `docs/`. Run it by `npm run schema`. */
import { writeFileSync } from 'node:fs';
import { certificateJsonSchema } from './certificate.ts';

writeFileSync(
  new URL('../../../docs/certificate.schema.json', import.meta.url),
  certificateJsonSchema(),
);
console.log('written: docs/certificate.schema.json');
