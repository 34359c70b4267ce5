import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { FOLDER, files } from './dashboards.ts';

// `npm run dashboards`: dashboards that are no longer made are deleted.
const made = files();
await mkdir(FOLDER, { recursive: true });
for (const name of await readdir(FOLDER)) {
  if (!made.has(name)) await rm(join(FOLDER, name));
}
for (const [name, content] of made) await writeFile(join(FOLDER, name), content);
console.log(`${made.size} dashboards in ${FOLDER}`);
