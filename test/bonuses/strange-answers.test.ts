import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { BONUS_METHODS, type BonusMethod } from '../../src/bonuses/method-names.ts';
import {
  type BonusGateway,
  batchBody,
  objectOf,
  SERVICE_CID,
  startBonusGateway,
  templateBody,
} from './support/bonus-gateway.ts';

let deployment: BonusGateway;
let template: number;
let bonus: number;
/** The aggregator's id of beta's player, which alpha may never see. */
let foreignId: string;
beforeAll(async () => {
  deployment = await startBonusGateway();
  template = await deployment.template(deployment.alpha);
  bonus = await deployment.bonus(deployment.alpha, template, 'ann');
  const others = await deployment.template(deployment.beta, { name: 'Of beta' });
  await deployment.bonus(deployment.beta, others, 'secret-ben');
  const [row] = await deployment.sql<{ user_id: string }>(
    "SELECT user_id FROM players WHERE operator_user = 'secret-ben'",
  );
  foreignId = row?.user_id ?? '?';
});
afterAll(() => deployment.close());
afterEach(() => deployment.api.behave());

/** Additional members that a talkative service may send, at any depth. */
function gossip(): Readonly<Record<string, unknown>> {
  const escaped = [...foreignId].map(
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  return {
    partner: SERVICE_CID,
    trace: `${SERVICE_CID}/${foreignId}`,
    log: `by ${SERVICE_CID}: user ${foreignId.toUpperCase()}!`,
    users: [foreignId, foreignId.toUpperCase()],
    playerIds: [[foreignId]],
    [foreignId]: { name: foreignId },
    [`${SERVICE_CID}:${foreignId}`]: 1,
    status_of: [[[{ note: `x${foreignId}x` }]]],
    near: [{ userId: foreignId, cid: SERVICE_CID }, { player: { id: foreignId } }],
    name_of: { name: { deep: foreignId }, status: [[foreignId]], type: { x: SERVICE_CID } },
    escaped: JSON.parse(`"${escaped.join('')}"`),
  };
}

/** The right answer with additional members at its top, in its list and in its errors. */
function talkative(right: string): string {
  const answer = objectOf(JSON.parse(right));
  const text = JSON.stringify({
    ...answer,
    ...gossip(),
    ...(Array.isArray(answer.items) && {
      items: answer.items.map((item) => ({ ...objectOf(item), ...gossip() })),
    }),
    ...('errorItems' in answer && { errorItems: [gossip(), [[gossip()]], foreignId] }),
  });
  // Partly spelled with escapes, as JSON allows.
  return text.replaceAll(`"${foreignId}"`, `"${foreignId.replaceAll('-', '\\u002d')}"`);
}

const CALLS: Readonly<Record<BonusMethod, () => object>> = {
  templates: () => ({ page: 1 }),
  template: () => ({ templateId: template }),
  'templates/add': () => templateBody({ name: 'Talked about' }),
  'player/bonuses': () => ({ userId: 'ann' }),
  bonus: () => ({ bonusId: bonus }),
  'bonus/applyBatch': () => batchBody(template, ['carl']),
  'bonus/revokeBatch': () => ({ bonusesIds: [bonus, 7_654_321] }),
};

describe.each(BONUS_METHODS)('POST /bonuses/%s', (method) => {
  it('passes on nothing that a talkative service says about others (I8)', async () => {
    deployment.api.misbehave(method, { kind: 'rewrite', body: talkative });
    const answer = await deployment.alpha.call(`/bonuses/${method}`, CALLS[method]());
    expect(answer.status).toBe(200);
    const seen = JSON.stringify([answer.json, answer.body, answer.headers]).toLowerCase();
    for (const secret of [SERVICE_CID, foreignId, 'secret-ben', 'beta-key']) {
      expect(seen).not.toContain(secret.toLowerCase());
    }
  });

  it('passes refusals on without what they say about others (I8)', async () => {
    const message = `${SERVICE_CID}: ${foreignId} x_${SERVICE_CID}_${foreignId.toUpperCase()}`;
    const body = JSON.stringify({ code: 77, message, ...gossip() });
    deployment.api.misbehave(method, { kind: 'status', status: 422, body });
    const fields =
      method === 'templates/add' ? { ...CALLS[method](), betCount: 2 } : CALLS[method]();
    const answer = await deployment.alpha.call(`/bonuses/${method}`, fields);
    for (const secret of [SERVICE_CID, foreignId]) {
      expect(answer.body.toLowerCase()).not.toContain(secret.toLowerCase());
    }
  });
});

describe('a list of a player’s bonuses', () => {
  const listed = async (body: (right: string) => string) => {
    deployment.api.misbehave('player/bonuses', { kind: 'rewrite', body });
    return await deployment.alpha.call('/bonuses/player/bonuses', { userId: 'ann' });
  };
  const template = '{"id":7,"name":"Of beta for its best"}';
  const others = () => `{"id":8,"templateId":7,"name":"Of beta","userId":"${foreignId}"}`;

  it.each([
    ['templates', () => template],
    ['the bonuses of another operator’s player', others],
  ])(
    'that shows %s is no answer: an empty one would pass for a player without (I8)',
    async (_, item) => {
      const answer = await listed(() => `{"items":[${item()}],"metadata":{"totalPages":1}}`);
      expect([answer.status, answer.json?.code]).toEqual([502, 100]);
      expect(answer.body).not.toContain('beta');
    },
  );

  it('is the player’s own where its bonuses name no player', async () => {
    const answer = await listed(() => '{"items":[{"id":9,"templateId":7}],"metadata":{}}');
    expect([answer.status, answer.json?.items]).toMatchObject([200, [{ id: 9 }]]);
  });

  it('is the player’s own where the service adds others to it (I8)', async () => {
    const answer = await listed((right) =>
      right.replace('"items":[', `"items":[${template},${others()},`),
    );
    expect(answer.json?.items).toMatchObject([{ id: bonus, userId: 'ann' }]);
  });
});

it('shows no bonus under another’s id, though the service answers with one of the operator’s own (I8)', async () => {
  const { alpha, beta, api } = deployment;
  const read = async (bonusId: number, said: (right: string) => string) => {
    api.misbehave('bonus', { kind: 'rewrite', body: said }, { calls: 1 });
    const { status, json } = await alpha.call('/bonuses/bonus', { bonusId });
    return [status, json?.code];
  };
  let own = '';
  const keep = (right: string) => {
    own = right;
    return right;
  };
  expect(await read(bonus, keep)).toEqual([200, undefined]);
  const foreign = await deployment.bonus(beta, await deployment.template(beta), 'carl');
  // The answer to another call.
  expect(await read(foreign, () => own)).toEqual([404, 2]);
});

it('signs nothing for an operator but what the protocol knows: any other member is refused', async () => {
  const asked = deployment.api.requests.length;
  const foreign = { transactionId: 'b-1', type: 2, amount: 10, extra: { userId: 'x' }, page: 1 };
  for (const [name, value] of Object.entries(foreign)) {
    if (name === 'type') continue;
    const create = await deployment.alpha.call(
      '/bonuses/templates/add',
      templateBody({ [name]: value }),
    );
    const batch = { ...batchBody(template, ['dora']), [name]: value };
    const apply = await deployment.alpha.call('/bonuses/bonus/applyBatch', batch);
    for (const refused of [create, apply]) {
      expect([refused.status, refused.json?.code]).toEqual([400, 5]);
      expect(refused.json?.message).toBe(`${name}: is not a member of this request`);
    }
  }
  expect(deployment.api.requests.length).toBe(asked);
});
