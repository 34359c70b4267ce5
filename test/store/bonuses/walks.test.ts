import { afterEach, beforeEach, expect, it } from 'vitest';
import type { NewIntent } from '../../../src/store/bonuses/intent-statements.ts';
import { BonusIntents } from '../../../src/store/bonuses/intents.ts';
import { OpenCreates } from '../../../src/store/bonuses/open-creates.ts';
import { BonusOwnership } from '../../../src/store/bonuses/ownership.ts';
import { BonusWalks, type ClaimedPage } from '../../../src/store/bonuses/walks.ts';
import type { Database } from '../../../src/store/database.ts';
import { createDatabase, type TestDatabase } from '../../support/database.ts';
import { openPlainDatabase } from '../../support/journal.ts';
import { onServer } from '../../support/server.ts';

const CID = 'aggregator-key';
const ACCOUNTS = { cids: [CID], kept: [CID], shared: [] };
const PACE = { everyMs: 60_000, leaseMs: 60_000 };

let server: TestDatabase;
let database: Database;
let walks: BonusWalks;
let openCreates: OpenCreates;
beforeEach(async () => {
  server = await createDatabase();
  database = openPlainDatabase(server.url);
  walks = new BonusWalks(database);
  openCreates = new OpenCreates(database);
});
afterEach(async () => {
  await database.close();
  await server.drop();
});

function intent(operatorId: string, body = '{"name":"x"}'): NewIntent {
  const tenant = { operatorId, upstreamCid: CID };
  return { tenant, bodyHash: Buffer.from(body), body, patienceMs: 0 };
}

/** The claim. @throws Error if there is none */
async function claimed(
  claim: ClaimedPage | undefined | Promise<ClaimedPage | undefined>,
): Promise<ClaimedPage> {
  const page = await claim;
  if (page === undefined) throw new Error('nothing to claim');
  return page;
}

it('has nothing to do for an unused account', async () => {
  expect(await walks.claim(ACCOUNTS, PACE)).toBeUndefined();
});

it('walks for shared templates, and for owned ones, every so often', async () => {
  const claim = (shared: readonly string[]) => walks.claim({ ...ACCOUNTS, shared }, PACE);
  const first = await claimed(claim([CID]));
  expect(first.page).toBe(1);
  await walks.advance(first, 2);
  const second = await claimed(claim([]));
  expect(second.page).toBe(2);
  await walks.complete(second);
  expect(await claim([CID])).toBeUndefined();
});

it('gives a page to one of many processes, and to another when that one is gone', async () => {
  await new BonusIntents(database).beginCreate(intent('alpha'), '-1');
  const claims = await Promise.all(
    Array.from({ length: 8 }, () => new BonusWalks(database).claim(ACCOUNTS, PACE)),
  );
  const [only, ...others] = claims.filter((claim) => claim !== undefined);
  expect([only?.upstreamCid, only?.page, others]).toEqual([CID, 1, []]);
  await walks.postpone(await claimed(only), 1, 0);
  expect(await walks.claim(ACCOUNTS, PACE)).toMatchObject({ upstreamCid: CID, page: 1 });
});

it('walks for an open create only when its request must have ended', async () => {
  const intents = new BonusIntents(database);
  await intents.beginCreate({ ...intent('alpha'), patienceMs: 3_600_000 }, '-1');
  expect(await walks.claim(ACCOUNTS, PACE)).toBeUndefined();
});

it('offers as candidates only templates of this walk, above the mark, without an owner', async () => {
  const intents = new BonusIntents(database);
  const ownership = new BonusOwnership(database);
  const tenant = { operatorId: 'beta', upstreamCid: CID };
  await ownership.keepCopies(CID, [
    { templateId: '9', item: '{"id":9,"old":true}' },
    { templateId: '14', item: '{"id":14,"gone":true}' },
  ]);
  // One whose create was pruned, and one that a person has assigned.
  await onServer(server.url, (client) =>
    client.query(
      `INSERT INTO bonus_templates (upstream_cid, operator_id, template_id, origin)
       VALUES ($1, 'beta', 15, 'created'), ($1, 'beta', 16, 'assigned')`,
      [CID],
    ),
  );
  const other = await intents.beginCreate(intent('beta'), '-1');
  const answer = { status: 200, body: '{}' };
  if (other.kind !== 'begun') throw new Error('not begun');
  await intents.finishCreate(tenant, other.intentId, { templateId: '12', item: '{}' }, answer);
  const decided = await intents.beginCreate(intent('beta', '{"name":"y"}'), '-1');
  if (decided.kind !== 'begun') throw new Error('not begun');
  await intents.finishCreate(tenant, decided.intentId, { templateId: '16', item: '{}' }, answer);
  await intents.beginCreate(intent('alpha'), '10');
  const walk = await claimed(walks.claim(ACCOUNTS, PACE));
  await ownership.keepCopies(CID, [
    { templateId: '10', item: '{"id":10}' },
    { templateId: '11', item: '{"id":11}' },
    { templateId: '12', item: '{"id":12}' },
    { templateId: '13', item: null },
    { templateId: '15', item: '{"id":15}' },
    { templateId: '16', item: '{"id":16}' },
  ]);
  const candidates = await openCreates.candidates(CID, '10');
  expect(candidates).toEqual([{ templateId: '11', item: '{"id":11}', assignedTo: undefined }]);
  expect(await openCreates.of(walk)).toMatchObject([
    { operatorId: 'alpha', aboveId: '10', passes: 0, isDue: true, ambiguous: false },
  ]);
});

it('still offers on the last page what was on the first: else a create would be made twice (I5)', async () => {
  await new BonusIntents(database).beginCreate(intent('alpha'), '10');
  await walks.advance(await claimed(walks.claim(ACCOUNTS, PACE)), 2);
  await new BonusOwnership(database).keepCopies(CID, [{ templateId: '11', item: '{"id":11}' }]);
  const last = await claimed(walks.claim(ACCOUNTS, PACE));
  expect(last.page).toBe(2);
  expect(await openCreates.candidates(CID, '10')).toMatchObject([{ templateId: '11' }]);
});

it('offers a template whose id is taken at another partner account only (I8)', async () => {
  const intents = new BonusIntents(database);
  const tenant = { operatorId: 'beta', upstreamCid: 'another-key' };
  const there = await intents.beginCreate({ ...intent('beta'), tenant }, '-1');
  if (there.kind !== 'begun') throw new Error('not begun');
  const answer = { status: 200, body: '{}' };
  await intents.finishCreate(tenant, there.intentId, { templateId: '11', item: '{}' }, answer);
  await intents.beginCreate(intent('alpha'), '10');
  await claimed(walks.claim(ACCOUNTS, PACE));
  await new BonusOwnership(database).keepCopies(CID, [{ templateId: '11', item: '{"id":11}' }]);
  expect(await openCreates.candidates(CID, '10')).toMatchObject([{ templateId: '11' }]);
});

it('looks again at once where a person has spoken while it looked', async () => {
  await new BonusIntents(database).beginCreate(intent('alpha'), '10');
  const walk = await claimed(walks.claim(ACCOUNTS, PACE));
  const found = async () => {
    const [create] = await openCreates.of(walk);
    if (create === undefined) throw new Error('no open create');
    return create;
  };
  const looked = await found();
  await onServer(server.url, (client) =>
    client.query(`UPDATE bonus_intents SET look_at = '1970-01-01T00:00:00.007Z'`),
  );
  await openCreates.readAgain(looked, 60_000, true);
  const spoken = await found();
  expect(spoken).toMatchObject({ isDue: true, ambiguous: true, passes: 1 });
  await openCreates.readAgain(spoken, 60_000, true);
  expect(await found()).toMatchObject({ isDue: false, passes: 2 });
});

it('belongs to the last that has claimed it: one that stood still changes nothing of it', async () => {
  await new BonusIntents(database).beginCreate(intent('alpha'), '-1');
  const still = await claimed(walks.claim(ACCOUNTS, { ...PACE, leaseMs: -1 }));
  const present = await claimed(walks.claim(ACCOUNTS, PACE));
  await walks.advance(still, 7);
  await walks.postpone(still, 7, 0);
  await walks.complete(still);
  expect(await openCreates.of(still)).toEqual([]);
  expect(await walks.claim(ACCOUNTS, PACE)).toBeUndefined();
  await walks.advance(present, 2);
  expect(await claimed(walks.claim(ACCOUNTS, PACE))).toMatchObject({ page: 2 });
});
