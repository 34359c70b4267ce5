import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Database } from '../../../src/store/database.ts';
import { Players } from '../../../src/store/sessions/players.ts';
import { noRow, statement } from '../../../src/store/sql/statement.ts';
import { createDatabase, type TestDatabase } from '../../support/database.ts';
import { openPlainDatabase } from '../../support/journal.ts';

let server: TestDatabase;
let database: Database;
let players: Players;
beforeEach(async () => {
  server = await createDatabase();
  database = openPlainDatabase(server.url);
  players = new Players(database);
});
afterEach(async () => {
  await database.close();
  await server.drop();
});

it('gives a real person one userId for ever, whoever asks first', async () => {
  const asked = Array.from({ length: 20 }, () => new Players(database).ensure('alpha', 'ann'));
  const owners = await Promise.all(asked);
  expect(new Set(owners.map(({ userId }) => userId)).size).toBe(1);
  expect(await players.ensure('alpha', 'ann')).toEqual(owners[0]);
});

it('keeps the players of two operators apart, though they have the same name (I8)', async () => {
  const ofAlpha = await players.ensure('alpha', 'ann');
  const ofBeta = await players.ensure('beta', 'ann');
  expect(ofBeta.userId).not.toBe(ofAlpha.userId);
  expect(await players.findByUserId(ofBeta.userId)).toMatchObject({ operatorId: 'beta' });
});

it('tells names apart to the letter', async () => {
  const names = ['ann', 'Ann', 'ann.', '~ann', 'a'.repeat(64)];
  const owners = await Promise.all(names.map((name) => players.ensure('alpha', name)));
  expect(new Set(owners.map(({ userId }) => userId)).size).toBe(names.length);
});

it('makes userIds that the protocol allows and nobody can guess', async () => {
  const { userId } = await players.ensure('alpha', 'ann');
  expect(userId).toMatch(/^[0-9a-f-]{36}$/);
  expect(userId).not.toContain('ann');
});

it('finds a player again by userId, also in another process', async () => {
  const made = await players.ensure('alpha', 'ann');
  expect(await new Players(database).findByUserId(made.userId)).toEqual(made);
});

it('tells of a player for a bet that is not in the journal what people have released of that operator', async () => {
  const owner = await players.ensure('released', 'ann');
  expect(await players.findForBet(owner.userId)).toEqual({ owner, released: 0, releasedTo: 0 });
  const text = `INSERT INTO operator_holds (operator_id, released, released_to, counted_at)
                VALUES ('released', 5, 4, clock_timestamp()), ('alpha', 9, 9, clock_timestamp())`;
  await database.run(statement('release', {}, text, noRow), {});
  expect(await players.findForBet(owner.userId)).toEqual({ owner, released: 5, releasedTo: 4 });
  expect(await players.findForBet('ann')).toBeUndefined();
});

it('finds nobody for an unknown userId', async () => {
  expect(await players.findByUserId('ann')).toBeUndefined();
  expect(await players.findByUserId("' OR true --")).toBeUndefined();
});

it('knows no player whom a failover has lost, even if the id belongs to another one by now (I8)', async () => {
  const lost = await players.ensure('alpha', 'ann');
  await players.findByUserId(lost.userId);
  await database.run(statement('lose', {}, 'TRUNCATE players RESTART IDENTITY CASCADE', noRow), {});
  expect(await players.ensure('beta', 'bob')).toMatchObject({ playerId: lost.playerId });
  expect(await players.findByUserId(lost.userId)).toBeUndefined();
});
