import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type BonusGateway,
  batchBody,
  objectOf,
  playerData,
  SERVICE_CID,
  startBonusGateway,
} from './support/bonus-gateway.ts';

let deployment: BonusGateway;
let template: number;
beforeAll(async () => {
  deployment = await startBonusGateway();
  template = await deployment.template(deployment.alpha);
});
afterAll(() => deployment.close());

const apply = (body: object) => deployment.alpha.call('/bonuses/bonus/applyBatch', body);
const userIdOf = async (user: string) => {
  const [row] = await deployment.sql<{ user_id: string }>(
    "SELECT user_id FROM players WHERE operator_id = 'alpha' AND operator_user = $1",
    [user],
  );
  return row?.user_id ?? '';
};

describe('POST /bonuses/bonus/applyBatch', () => {
  it('gives players their aggregator’s id here and now, the same their session gets', async () => {
    const issued = await apply(batchBody(template, ['new-1', 'new-2']));
    expect(issued.status).toBe(200);
    const bonuses = Object.entries(objectOf(issued.json?.items));
    expect(bonuses).toHaveLength(2);
    for (const [key, bonus] of bonuses) {
      expect(bonus).toMatchObject({ id: Number(key), templateId: template, cid: 'alpha-key' });
    }
    const sent: unknown = JSON.parse(deployment.api.requests.at(-1)?.body ?? '');
    const userIds = await Promise.all(['new-1', 'new-2'].map(userIdOf));
    expect(sent).toEqual({
      templateId: template,
      playersData: userIds.map((userId) => playerData(userId)),
      cid: SERVICE_CID,
    });
    const opened = await deployment.alpha.openSession({
      operatorUser: 'new-1',
      currency: 'USD',
      operatorToken: 'a-token-of-theirs',
    });
    expect(opened.session?.userId).toBe(userIds[0]);
    for (const userId of userIds) expect(issued.body).not.toContain(userId);
  });

  it('refuses the userId of a session’s answer, which would become a nonexistent player', async () => {
    const opened = await deployment.alpha.openSession({
      operatorUser: 'mistaken',
      currency: 'USD',
      operatorToken: 'a-token-of-mistaken',
    });
    const userId = opened.session?.userId ?? '';
    const asked = deployment.api.requests.length;
    const issued = await apply(batchBody(template, ['right', userId]));
    expect([issued.status, issued.json]).toEqual([
      400,
      {
        code: 5,
        message: 'playersData.1.userId: is the id that the gateway gave this player, send your own',
      },
    ]);
    expect(deployment.api.requests.length).toBe(asked);
    expect(await userIdOf('right')).toBe('');
    // Another operator learns nothing from it.
    const shared = await deployment.template(deployment.beta);
    const foreign = await deployment.beta.call(
      '/bonuses/bonus/applyBatch',
      batchBody(shared, [userId]),
    );
    expect(foreign.status).toBe(200);
  });

  it('names the players of the service’s error entries as the operator does', async () => {
    await apply(batchBody(template, ['twice']));
    const second = await apply(batchBody(template, ['twice', 'once']));
    expect(second.status).toBe(200);
    expect(Object.values(objectOf(second.json?.items))).toMatchObject([{ userId: 'once' }]);
    expect(second.json?.errorItems).toMatchObject([{ userId: 'twice', code: 34 }]);
  });

  it('passes amounts to the letter (I9)', async () => {
    const body =
      `{"cid":"alpha-key","playersData":[{"userId":"exact","currency":"EUR","betAmount":5.10,` +
      `"betCount":2,"forceActivated":false}],"templateId":${template}}`;
    const issued = await deployment.gateway.service.call(
      'POST',
      '/bonuses/bonus/applyBatch',
      body,
      {
        signWith: 'alpha-api-secret-that-is-long-enough',
      },
    );
    expect(issued.status).toBe(200);
    expect(issued.body).toContain('"betAmount":5.10');
    const sent = deployment.api.requests.at(-1)?.body;
    const userId = await userIdOf('exact');
    expect(sent).toBe(body.replace('alpha-key', SERVICE_CID).replace('"exact"', `"${userId}"`));
  });

  it('answers the same body as before, without a call to the service', async () => {
    const first = await apply(batchBody(template, ['again']));
    const asked = deployment.api.requests.length;
    const second = await apply(batchBody(template, ['again']));
    expect([second.status, second.body]).toEqual([first.status, first.body]);
    expect(deployment.api.requests.length).toBe(asked);
  });

  it.each([
    ['"items":{},', 'later'],
    ['"items":null,', 'later-null'],
    ['', 'later-none'],
  ])(
    'is sent again if nothing was issued (%s): the cause may be gone by then',
    async (items, user) => {
      const errors = '"errorItems":[{"code":33,"message":"template is not active"}]';
      const refusal = { kind: 'status', status: 200, body: `{${items}${errors}}` } as const;
      deployment.api.misbehave('bonus/applyBatch', refusal, { calls: 1 });
      const refused = await apply(batchBody(template, [user]));
      expect([refused.status, refused.body]).toEqual([200, `{"items":{},${errors}}`]);
      const issued = await apply(batchBody(template, [user]));
      expect(Object.values(objectOf(issued.json?.items))).toMatchObject([{ userId: user }]);
      expect((await apply(batchBody(template, [user]))).body).toBe(issued.body);
    },
  );

  it.each([
    '"items":null',
    '"items":null,"errorItems":[{"code":33}]',
    '"errorItems":[]',
    '"items":7,"errorItems":[1,2]',
  ])(
    'stays open if there are no items, and is not an error for each player: {%s}',
    async (members) => {
      const odd = { kind: 'status', status: 200, body: `{${members}}` } as const;
      deployment.api.misbehave('bonus/applyBatch', odd, { calls: 1 });
      const users = [`odd-${members.length}-1`, `odd-${members.length}-2`];
      const first = await apply(batchBody(template, users));
      expect([first.status, first.json?.code]).toEqual([502, 100]);
      expect((await apply(batchBody(template, users))).status).toBe(409);
    },
  );

  it.each([
    ['nobody', 'lost-1', '{"items":{},"errorItems":[]}'],
    ['some', 'lost-2', '{"items":[],"errorItems":[{"code":33,"message":"no"}]}'],
  ])('is not sent again if the answer mentions %s: it may have issued', async (_, user, body) => {
    const answer = { kind: 'status', status: 200, body } as const;
    deployment.api.misbehave('bonus/applyBatch', answer, { calls: 1 });
    const batch = batchBody(template, [user, `${user}-too`]);
    const first = await apply(batch);
    const asked = deployment.api.requests.length;
    expect([first.status, first.body]).toEqual([200, body]);
    expect((await apply(batch)).body).toBe(body);
    expect(deployment.api.requests.length).toBe(asked);
  });

  it('issues to a thousand players at once', async () => {
    const users = Array.from({ length: 1000 }, (_, n) => `player-${n}`);
    const issued = await apply(batchBody(template, users));
    expect(issued.status).toBe(200);
    const bonuses = Object.values(objectOf(issued.json?.items)).map((bonus) => objectOf(bonus));
    expect(new Set(bonuses.map(({ userId }) => userId))).toEqual(new Set(users));
  });

  it('lets only one of two calls at once touch the same player and template: 409/8', async () => {
    const gate = deployment.api.hold('bonus/applyBatch');
    const first = apply(batchBody(template, ['busy', 'other']));
    await gate.arrived;
    const same = await apply(batchBody(template, ['busy', 'other']));
    const touching = await apply(batchBody(template, ['busy', 'third']));
    expect([same.status, same.json?.code]).toEqual([409, 8]);
    expect([touching.status, touching.json?.code]).toEqual([409, 8]);
    const else_ = apply(batchBody(template, ['fourth']));
    await gate.arrivedTimes(2);
    gate.release();
    expect((await first).status).toBe(200);
    expect((await else_).status).toBe(200);
    expect((await apply(batchBody(template, ['busy', 'third']))).status).toBe(200);
  });

  it('does not wait in a ring when overlapping batches meet', async () => {
    const users = Array.from({ length: 200 }, (_, n) => `ring-${n}`);
    const calls = Array.from({ length: 8 }, (_, n) => {
      const mine = n % 2 === 0 ? users : users.toReversed();
      return apply(batchBody(template, [...mine, `ring-only-${n}`]));
    });
    const statuses = (await Promise.all(calls)).map(({ status }) => status);
    expect(statuses.every((status) => status === 200 || status === 409)).toBe(true);
    expect(statuses).toContain(200);
    const issued = deployment.api.bonuses.map(({ userId }) => userId);
    const ringed = await deployment.sql<{ user_id: string }>(
      "SELECT user_id FROM players WHERE operator_user ~ '^ring-[0-9]+$'",
    );
    const counts = ringed.map(({ user_id: id }) => issued.filter((one) => one === id).length);
    expect(counts).toEqual(users.map(() => 1));
  });

  it('never shows a bonus of another operator’s player, whatever the service says (I8)', async () => {
    const foreign = await deployment.template(deployment.beta, { name: 'Of beta' });
    await deployment.bonus(deployment.beta, foreign, 'ben');
    const other =
      deployment.api.bonuses.find((bonus) => bonus.template.id === foreign)?.userId ?? '?';
    deployment.api.misbehave(
      'bonus/applyBatch',
      {
        kind: 'rewrite',
        body: (right) =>
          right
            .replace('"items":{', `"items":{"1":{"id":1,"templateId":1,"userId":"${other}"},`)
            .replace(
              '"errorItems":[]',
              `"errorItems":[{"userId":"${other}","code":34},` +
                `{"code":34,"message":"no ${other} at ${SERVICE_CID}","by":{"${other}":1}}]`,
            ),
      },
      { calls: 1 },
    );
    const issued = await apply(batchBody(template, ['careful']));
    expect(issued.status).toBe(200);
    expect(issued.body).not.toContain(other);
    expect(issued.body).not.toContain(SERVICE_CID);
    expect(Object.values(objectOf(issued.json?.items))).toMatchObject([{ userId: 'careful' }]);
    expect(issued.json?.errorItems).toEqual([
      { code: 34, message: 'no [hidden] at alpha-key', by: {} },
    ]);
  });

  it('takes bonuses of the asked template that name no player for those of the batch', async () => {
    const nameless = (right: string) => right.replaceAll(/,"userId":"[^"]*"/g, '');
    deployment.api.misbehave('bonus/applyBatch', { kind: 'rewrite', body: nameless }, { calls: 1 });
    const issued = await apply(batchBody(template, ['nameless-1', 'nameless-2']));
    expect([issued.status, Object.keys(objectOf(issued.json?.items)).length]).toEqual([200, 2]);
  });

  it('takes refusals in entries keyed by player, of nearly everybody, for those of the batch', async () => {
    const users = Array.from({ length: 200 }, (_, at) => `keyed-${at}`);
    await apply(batchBody(template, users.slice(1)));
    const keyed = (right: string) => {
      const { items, errorItems } = objectOf(JSON.parse(right));
      const entries = Object.values(objectOf(errorItems)).map(objectOf);
      const refusals = entries.map(({ userId, ...refusal }) => [String(userId), refusal]);
      return JSON.stringify({ items, errorItems: Object.fromEntries(refusals) });
    };
    deployment.api.misbehave('bonus/applyBatch', { kind: 'rewrite', body: keyed }, { calls: 1 });
    const issued = await apply(batchBody(template, users));
    expect(issued.status).toBe(200);
    expect(Object.values(objectOf(issued.json?.items))).toMatchObject([{ userId: 'keyed-0' }]);
    expect(Object.keys(objectOf(issued.json?.errorItems))).toEqual(users.slice(1));
  });

  it('passes the service’s refusal of a whole batch on, and may be asked again', async () => {
    deployment.api.setEnabled(template, false);
    const refused = await apply(batchBody(template, ['disabled']));
    expect([refused.status, refused.json?.code]).toEqual([400, 33]);
    deployment.api.setEnabled(template, true);
    expect((await apply(batchBody(template, ['disabled']))).status).toBe(200);
  });
});
