import { getHeapSpaceStatistics } from 'node:v8';
import { Database } from '../../../../src/store/database.ts';
import { statement } from '../../../../src/store/sql/statement.ts';

/**
 * Sends statements, collects only what is young after each few, as happens several times a second under load, and
 * prints how many of their texts' bytes only a major collection would free, as a share of all. To be run with
 * `--expose-gc`; argument: the URL of PostgreSQL. A process of its own, because a test's also keeps things.
 */
const TEXT_BYTES = 20_000;
const STATEMENTS_EACH = 100;
const COLLECTIONS = 20;

const REPEAT = statement(
  'repeat',
  { text: ['text', (text: string) => text] },
  'SELECT :text AS text',
  (row) => row.text('text').length,
);

const [, , url = ''] = process.argv;
const database = new Database({ url, connectionsMax: 1, onIdleError: () => undefined });
await send(5);
collect('major');
const before = oldBytes();
await send(COLLECTIONS);
console.log((oldBytes() - before) / (COLLECTIONS * STATEMENTS_EACH * TEXT_BYTES));
await database.close();

async function send(collections: number): Promise<void> {
  for (let n = 0; n < collections; n += 1) {
    for (let one = 0; one < STATEMENTS_EACH; one += 1) {
      await database.run(REPEAT, `${n}.${one}`.padEnd(TEXT_BYTES, 'x'));
    }
    collect('minor');
  }
}

function collect(type: 'minor' | 'major'): void {
  if (globalThis.gc === undefined) throw new Error('run it with --expose-gc');
  globalThis.gc({ type });
}

function oldBytes(): number {
  return getHeapSpaceStatistics()
    .filter(({ space_name: name }) => ['old_space', 'large_object_space'].includes(name))
    .reduce((total, { space_used_size: bytes }) => total + bytes, 0);
}
