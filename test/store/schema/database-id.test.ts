import { expect, it } from 'vitest';
import { databaseId } from '../../../src/store/schema/journal-database.ts';
import { createDatabase } from '../../support/database.ts';

it('is the same each time, and another one for a copy of the database', async () => {
  const [one, copy] = [await createDatabase(), await createDatabase()];
  const ids = await Promise.all([one, one, copy].map(({ url }) => databaseId(url)));
  expect(ids[0]).toMatch(/^[0-9a-f]{16}$/);
  expect(ids[1]).toBe(ids[0]);
  expect(ids[2]).not.toBe(ids[0]);
  await Promise.all([one.drop(), copy.drop()]);
});
