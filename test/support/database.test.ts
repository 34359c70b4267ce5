import { Redis } from 'ioredis';
import { expect, it } from 'vitest';
import { createBareDatabase, createDatabase } from './database.ts';
import { migrationStatus } from './migrations.ts';
import { sharedRedis } from './redis.ts';
import { onServer } from './server.ts';

it('gives each test a migrated database of its own, made of one template', async () => {
  const [one, two] = await Promise.all([createDatabase(), createDatabase()]);
  try {
    expect((await migrationStatus(one.url)).pending).toEqual([]);
    await onServer(one.url, (client) => client.query('CREATE TABLE only_here ()'));
    const there = `SELECT to_regclass('only_here') IS NULL AS missing`;
    const { rows } = await onServer(two.url, (client) => client.query(there));
    expect(rows).toEqual([{ missing: true }]);
  } finally {
    await Promise.all([one.drop(), two.drop()]);
  }
});

it('gives a bare database to the tests of the migrations', async () => {
  const bare = await createBareDatabase();
  try {
    expect((await migrationStatus(bare.url)).pending).not.toEqual([]);
  } finally {
    await bare.drop();
  }
});

it('gives a logical database of the shared Redis, emptied', async () => {
  const redis = new Redis((await sharedRedis()).url);
  await redis.set('a', '1');
  await sharedRedis();
  expect(await redis.get('a')).toBeNull();
  redis.disconnect();
});
