import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { BonusGrants } from '../../../src/store/bonuses/grants.ts';
import type { NewIntent } from '../../../src/store/bonuses/intent-statements.ts';
import { BonusIntents } from '../../../src/store/bonuses/intents.ts';
import { BonusOwnership } from '../../../src/store/bonuses/ownership.ts';
import { BonusPlayers } from '../../../src/store/bonuses/players.ts';
import type { Database } from '../../../src/store/database.ts';
import { createDatabase, type TestDatabase } from '../../support/database.ts';
import { openPlainDatabase } from '../../support/journal.ts';
import { onServer } from '../../support/server.ts';

const CID = 'aggregator-key';
const ALPHA = { operatorId: 'alpha', upstreamCid: CID };
const BETA = { operatorId: 'beta', upstreamCid: CID };
const ANSWER = { status: 200, body: '{"id":57}' };

let server: TestDatabase;
let database: Database;
let intents: BonusIntents;
beforeEach(async () => {
  server = await createDatabase();
  database = openPlainDatabase(server.url);
  intents = new BonusIntents(database);
});
afterEach(async () => {
  await database.close();
  await server.drop();
});

async function idsGiven(): Promise<number> {
  const { rows } = await onServer(server.url, (client) =>
    client.query<{ last: number }>('SELECT last_value::int AS last FROM bonus_intents_id_seq'),
  );
  return rows[0]?.last ?? 0;
}

function intent(tenant: typeof ALPHA, body: string): NewIntent {
  return { tenant, bodyHash: Buffer.from(body), body, patienceMs: 0 };
}

describe('an intent to create', () => {
  it('is begun by only one of many at once', async () => {
    const begun = await Promise.all(
      Array.from({ length: 10 }, () => intents.beginCreate(intent(ALPHA, 'a'), '-1')),
    );
    expect(begun.filter(({ kind }) => kind === 'begun')).toHaveLength(1);
    expect(begun.filter(({ kind }) => kind === 'open')).toHaveLength(9);
  });

  it('stays closed as it was, whoever closes it again', async () => {
    const template = { templateId: '57', item: '{"id":57}' };
    const done = await intents.beginCreate(intent(ALPHA, 'done'), '-1');
    const failed = await intents.beginCreate(intent(ALPHA, 'failed'), '-1');
    if (done.kind !== 'begun' || failed.kind !== 'begun') throw new Error('not begun');
    await intents.finishCreate(ALPHA, done.intentId, template, ANSWER);
    await intents.fail(done.intentId, 'too late');
    expect(await intents.findEqual(intent(ALPHA, 'done'), 'create')).toMatchObject({
      kind: 'answered',
    });
    await intents.fail(failed.intentId, 'refused');
    await intents.finishCreate(ALPHA, failed.intentId, template, ANSWER);
    expect(await intents.findEqual(intent(ALPHA, 'failed'), 'create')).toBeUndefined();
  });

  it('is answered again once it is done, and asked again once it has failed', async () => {
    const first = await intents.beginCreate(intent(ALPHA, 'a'), '-1');
    if (first.kind !== 'begun') throw new Error('not begun');
    await intents.fail(first.intentId, 'refused');
    const second = await intents.beginCreate(intent(ALPHA, 'a'), '-1');
    if (second.kind !== 'begun') throw new Error('not begun');
    const template = { templateId: '57', item: '{"id":57}' };
    expect(await intents.finishCreate(ALPHA, second.intentId, template, ANSWER)).toBe(true);
    expect(await intents.beginCreate(intent(ALPHA, 'a'), '-1')).toEqual({
      kind: 'answered',
      answer: ANSWER,
    });
    expect((await intents.beginCreate(intent(BETA, 'a'), '-1')).kind).toBe('begun');
  });

  it('never takes a template that is another operator’s (I8)', async () => {
    const first = await intents.beginCreate(intent(ALPHA, 'a'), '-1');
    const second = await intents.beginCreate(intent(BETA, 'a'), '-1');
    if (first.kind !== 'begun' || second.kind !== 'begun') throw new Error('not begun');
    const template = { templateId: '57', item: '{"id":57}' };
    expect(await intents.finishCreate(ALPHA, first.intentId, template, ANSWER)).toBe(true);
    expect(await intents.finishCreate(BETA, second.intentId, template, ANSWER)).toBe(false);
    const ownership = new BonusOwnership(database);
    expect(await ownership.ownsTemplate(ALPHA, '57')).toBe(true);
    expect(await ownership.ownsTemplate(BETA, '57')).toBe(false);
    expect(await intents.findEqual(intent(BETA, 'a'), 'create')).toEqual({ kind: 'open' });
  });

  it('keeps ownership even when it was given up as never arrived in the meantime', async () => {
    const begun = await intents.beginCreate(intent(ALPHA, 'a'), '-1');
    if (begun.kind !== 'begun') throw new Error('not begun');
    await intents.fail(begun.intentId, 'never arrived');
    const template = { templateId: '57', item: '{"id":57}' };
    expect(await intents.finishCreate(ALPHA, begun.intentId, template, ANSWER)).toBe(true);
    expect(await new BonusOwnership(database).ownsTemplate(ALPHA, '57')).toBe(true);
  });
});

describe('an intent to issue', () => {
  it('shares no player of a template with another open one, and leaves nothing behind', async () => {
    const first = await intents.beginApply(intent(ALPHA, 'a'), '57', ['u1', 'u2']);
    expect(first.kind).toBe('begun');
    const touching = await intents.beginApply(intent(ALPHA, 'b'), '57', ['u0', 'u2', 'u3']);
    expect(touching).toEqual({ kind: 'playersOpen' });
    // The refused one has left neither an intent nor players: both are free.
    expect((await intents.beginApply(intent(ALPHA, 'b'), '57', ['u0', 'u3'])).kind).toBe('begun');
    expect((await intents.beginApply(intent(ALPHA, 'c'), '58', ['u1', 'u2'])).kind).toBe('begun');
  });

  it('is refused at the first try: each would cost a connection', async () => {
    await intents.beginApply(intent(ALPHA, 'a'), '57', ['u1', 'u2']);
    const before = await idsGiven();
    await intents.beginApply(intent(ALPHA, 'b'), '57', ['u2', 'u3']);
    expect((await idsGiven()) - before).toBe(1);
  });

  it('records what was issued, and frees its players', async () => {
    const begun = await intents.beginApply(intent(ALPHA, 'a'), '57', ['u1', 'u2']);
    if (begun.kind !== 'begun') throw new Error('not begun');
    const issued = [{ bonusId: '7', templateId: '57', userId: 'u1' }];
    await intents.finishApply(ALPHA, begun.intentId, issued, ANSWER);
    const ownership = new BonusOwnership(database);
    expect(await ownership.ownBonuses(ALPHA, ['7', '8'])).toEqual(new Set(['7']));
    expect(await ownership.ownBonuses(BETA, ['7', '8'])).toEqual(new Set());
    expect((await intents.beginApply(intent(ALPHA, 'b'), '57', ['u1', 'u2'])).kind).toBe('begun');
  });

  it('is read back by one process a player, and closed when the last is known', async () => {
    const begun = await intents.beginApply(intent(ALPHA, 'a'), '57', ['u1', 'u2']);
    if (begun.kind !== 'begun') throw new Error('not begun');
    const grants = new BonusGrants(database);
    const claims = await Promise.all(Array.from({ length: 6 }, () => grants.claim([CID], 60_000)));
    const claimed = claims.filter((grant) => grant !== undefined);
    expect(claimed.map(({ userId }) => userId).toSorted()).toEqual(['u1', 'u2']);
    const [first, second] = claimed;
    if (first === undefined || second === undefined) throw new Error('not claimed');
    await grants.found(first, '7', '{"id":7}');
    expect(await grants.settled(begun.intentId, 100)).toBeUndefined();
    await grants.found(second, '8', '{"id":8}');
    expect(await grants.settled(begun.intentId, 100)).toMatchObject({
      operatorId: 'alpha',
      items: expect.arrayContaining(['{"id":7}', '{"id":8}']),
    });
    // Too large for an answer: for a thousand players it may be hundreds of megabytes.
    expect(await grants.settled(begun.intentId, 15)).toMatchObject({ items: undefined });
    expect(await grants.leftOpen()).toEqual([begun.intentId]);
  });

  it('does not take a bonus for its own that was recorded before it began', async () => {
    await new BonusOwnership(database).recordBonuses(ALPHA, [
      { bonusId: '7', templateId: '57', userId: 'u1' },
    ]);
    const begun = await intents.beginApply(intent(ALPHA, 'a'), '57', ['u1']);
    const grants = new BonusGrants(database);
    const grant = await grants.claim([CID], 60_000);
    if (begun.kind !== 'begun' || grant === undefined) throw new Error('not begun');
    await grants.found(grant, '7', '{"id":7}');
    expect(await grants.settled(begun.intentId, 100)).toMatchObject({ items: undefined });
  });

  it('takes one for its own that somebody has seen since, and is no whole batch without all', async () => {
    const begun = await intents.beginApply(intent(ALPHA, 'a'), '57', ['u1', 'u2']);
    const grants = new BonusGrants(database);
    const claims = [await grants.claim([CID], 60_000), await grants.claim([CID], 60_000)];
    const [first, second] = claims;
    if (begun.kind !== 'begun' || first === undefined || second === undefined) {
      throw new Error('not begun');
    }
    const seen = { bonusId: '7', templateId: '57', userId: first.userId };
    await new BonusOwnership(database).recordBonuses(ALPHA, [seen]);
    await grants.found(first, '7', '{"id":7}');
    const { rows } = await onServer(server.url, (client) =>
      client.query('SELECT state FROM bonus_grants ORDER BY state'),
    );
    expect(rows).toEqual([{ state: 'issued' }, { state: 'open' }]);
    await grants.absent(second.id);
    expect(await grants.settled(begun.intentId, 100)).toMatchObject({ items: undefined });
  });
});

describe('players', () => {
  it('are made once, whoever asks first, and never mixed up between operators (I8)', async () => {
    const players = new BonusPlayers(database);
    const users = Array.from({ length: 1000 }, (_, n) => `player-${n}`);
    const [one, other] = await Promise.all([
      players.ensureAll('alpha', users),
      players.ensureAll('alpha', users.toReversed()),
    ]);
    expect(one.size).toBe(1000);
    for (const user of users) expect(other.get(user)).toBe(one.get(user));
    const ofBeta = await players.ensureAll('beta', ['player-1']);
    const foreign = ofBeta.get('player-1') ?? '';
    expect(foreign).not.toBe(one.get('player-1'));
    expect(await players.namesOf('alpha', [foreign, one.get('player-2') ?? ''])).toEqual(
      new Map([[one.get('player-2'), 'player-2']]),
    );
    expect(await players.find('alpha', 'nobody')).toBeUndefined();
  });
});

it('an id is the operator’s at one partner account, and nobody’s at another (I8)', async () => {
  const ownership = new BonusOwnership(database);
  const elsewhere = { ...ALPHA, upstreamCid: 'another-key' };
  await ownership.recordBonuses(ALPHA, [{ bonusId: '7', templateId: '57', userId: 'u' }]);
  const created = await intents.beginCreate(intent(ALPHA, 'a'), '-1');
  if (created.kind !== 'begun') throw new Error('not begun');
  const template = { templateId: '57', item: '{"id":57}' };
  await intents.finishCreate(ALPHA, created.intentId, template, ANSWER);
  for (const [tenant, owns] of [
    [ALPHA, true],
    [elsewhere, false],
    [BETA, false],
  ] as const) {
    expect((await ownership.ownBonuses(tenant, ['7'])).has('7')).toBe(owns);
    expect(await ownership.ownsTemplate(tenant, '57')).toBe(owns);
  }
});
