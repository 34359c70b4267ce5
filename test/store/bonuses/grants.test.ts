import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { BonusGrants, type OpenGrant } from '../../../src/store/bonuses/grants.ts';
import { BonusIntents } from '../../../src/store/bonuses/intents.ts';
import { BonusOwnership } from '../../../src/store/bonuses/ownership.ts';
import type { Database } from '../../../src/store/database.ts';
import { createDatabase, type TestDatabase } from '../../support/database.ts';
import { openPlainDatabase } from '../../support/journal.ts';

const CID = 'aggregator-key';
const ALPHA = { operatorId: 'alpha', upstreamCid: CID };
const BETA = { operatorId: 'beta', upstreamCid: CID };
const LEASE_OVER_MS = -1;

let server: TestDatabase;
let database: Database;
let intents: BonusIntents;
let ownership: BonusOwnership;
let grants: BonusGrants;
beforeEach(async () => {
  server = await createDatabase();
  database = openPlainDatabase(server.url);
  intents = new BonusIntents(database);
  ownership = new BonusOwnership(database);
  grants = new BonusGrants(database);
});
afterEach(async () => {
  await database.close();
  await server.drop();
});

/** Begins a batch of template 57, whose players have been due for a while. @returns its id */
async function begin(body: string, players: readonly string[], dueForMs = 60_000): Promise<string> {
  const intent = { tenant: ALPHA, bodyHash: Buffer.from(body), body, patienceMs: -dueForMs };
  const begun = await intents.beginApply(intent, '57', players);
  if (begun.kind !== 'begun') throw new Error('not begun');
  return begun.intentId;
}

/** Claims a grant that everybody else may claim too. */
async function claim(): Promise<OpenGrant> {
  const grant = await grants.claim([CID], LEASE_OVER_MS);
  if (grant === undefined) throw new Error('nothing is due');
  return grant;
}

const items = async (intentId: string) => (await grants.settled(intentId, 1_000))?.items;

describe('a player of an unanswered batch', () => {
  it('is not read again once its outcome is known', async () => {
    await begin('a', ['u1', 'u2', 'u3']);
    await grants.found(await claim(), '7', '{"id":7}');
    await grants.absent((await claim()).id);
    const last = await claim();
    expect((await claim()).id).toBe(last.id);
    await grants.absent(last.id);
    expect(await grants.claim([CID], LEASE_OVER_MS)).toBeUndefined();
  });

  it('is read in turn: the one that has been due longest comes first', async () => {
    await begin('later', ['u1'], 60_000);
    const earlier = await begin('earlier', ['u2'], 3_600_000);
    expect((await claim()).intentId).toBe(earlier);
  });

  it('keeps the first outcome that was written, whoever is late (I5)', async () => {
    const intentId = await begin('a', ['u1']);
    const grant = await claim();
    await grants.found(grant, '7', '{"id":7}');
    // One that stood still since it claimed the same page.
    await grants.absent(grant.id);
    await grants.found(grant, '8', '{"id":8}');
    expect(await items(intentId)).toEqual(['{"id":7}']);
    const another = await begin('b', ['u2']);
    const gone = await claim();
    await grants.absent(gone.id);
    await grants.found(gone, '9', '{"id":9}');
    expect(await grants.settled(another, 1_000)).toMatchObject({ items: undefined });
  });

  it('has a bonus whose id was another player’s before the service was restored', async () => {
    await ownership.recordBonuses(BETA, [{ bonusId: '7', templateId: '9', userId: 'u0' }]);
    const intentId = await begin('a', ['u1']);
    await grants.found(await claim(), '7', '{"id":7}');
    expect(await items(intentId)).toEqual(['{"id":7}']);
    expect(await ownership.ownBonuses(ALPHA, ['7'])).toEqual(new Set(['7']));
    expect(await ownership.ownBonuses(BETA, ['7'])).toEqual(new Set());
  });

  it('nor does it count as an earlier one because the player has read it meanwhile', async () => {
    await ownership.recordBonuses(BETA, [{ bonusId: '7', templateId: '9', userId: 'u0' }]);
    const intentId = await begin('a', ['u1']);
    await ownership.recordBonuses(ALPHA, [{ bonusId: '7', templateId: '57', userId: 'u1' }]);
    await grants.found(await claim(), '7', '{"id":7}');
    expect(await items(intentId)).toEqual(['{"id":7}']);
  });
});

describe('a batch', () => {
  it('is answered in the order of its players', async () => {
    const intentId = await begin('a', ['u1', 'u2', 'u3']);
    const claimed = [await claim(), await claim(), await claim()];
    const byPlayer = claimed.toSorted((a, b) => (a.userId < b.userId ? 1 : -1));
    for (const grant of byPlayer) await grants.found(grant, grant.userId.slice(1), grant.userId);
    expect(await items(intentId)).toEqual(['u1', 'u2', 'u3']);
  });

  it('that was given up is not closed a second time, and may be begun anew', async () => {
    const intentId = await begin('a', ['u1']);
    await grants.found(await claim(), '7', '{"id":7}');
    await intents.fail(intentId, 'too much');
    expect(await grants.settled(intentId, 1_000)).toBeUndefined();
    expect(await grants.leftOpen()).toEqual([]);
    expect(await begin('a', ['u1'])).not.toBe(intentId);
  });
});

describe('the same ids at another partner account (I8)', () => {
  const elsewhere = { operatorId: 'beta', upstreamCid: 'another-key' };

  it('make no bonus an earlier one, and change no owner', async () => {
    await ownership.recordBonuses(elsewhere, [{ bonusId: '7', templateId: '9', userId: 'u1' }]);
    const intentId = await begin('a', ['u1']);
    await grants.found(await claim(), '7', '{"id":7}');
    expect(await items(intentId)).toEqual(['{"id":7}']);
    await ownership.recordBonuses(elsewhere, [{ bonusId: '7', templateId: '9', userId: 'u2' }]);
    expect(await ownership.ownBonuses(ALPHA, ['7'])).toEqual(new Set(['7']));
    expect(await ownership.ownBonuses(elsewhere, ['7'])).toEqual(new Set(['7']));
  });

  it('are another template: its copy is neither shown nor taken for a missing one', async () => {
    const page = { limit: 10, offset: 0 };
    await ownership.keepCopies(elsewhere.upstreamCid, [
      { templateId: '57', item: '{"secret":"of another"}' },
      { templateId: '58', item: null },
    ]);
    expect(await ownership.listTemplates(ALPHA, [57, 58], page)).toEqual([
      { templateId: '57', item: undefined },
      { templateId: '58', item: undefined },
    ]);
    expect(await ownership.countTemplates(ALPHA, [57, 58])).toBe(2);
  });

  it('and the same call there was never made', async () => {
    await begin('a', ['u1']);
    const there = { tenant: { ...ALPHA, upstreamCid: 'another-key' }, bodyHash: Buffer.from('a') };
    expect(await intents.findEqual(there, 'apply')).toBeUndefined();
    expect(await intents.findEqual({ ...there, tenant: ALPHA }, 'apply')).toEqual({ kind: 'open' });
  });
});
