import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import {
  type BonusGateway,
  objectOf,
  startBonusGateway,
  templateBody,
} from './support/bonus-gateway.ts';

let deployment: BonusGateway;
/** Ann's bonuses, in the order in which they were issued. */
const issued: number[] = [];
beforeAll(async () => {
  deployment = await startBonusGateway();
  const { alpha } = deployment;
  for (const name of ['First', 'Second', 'Third']) {
    const template = await deployment.template(alpha, templateBody({ name }));
    issued.push(await deployment.bonus(alpha, template, 'ann'));
  }
});
afterAll(() => deployment.close());
afterEach(() => deployment.api.behave());

const shownIds = async () => {
  const { json } = await deployment.alpha.call('/bonuses/player/bonuses', { userId: 'ann' });
  if (!Array.isArray(json?.items)) throw new Error(`no items: ${JSON.stringify(json)}`);
  return json.items.map((item) => objectOf(item).id);
};

/** The service's answer with its list turned round, and other members of its metadata. */
const newestFirst = (metadata: object) => (right: string) => {
  const answer = objectOf(JSON.parse(right));
  const items = Array.isArray(answer.items) ? answer.items.toReversed() : [];
  return JSON.stringify({
    ...answer,
    items,
    metadata: { ...objectOf(answer.metadata), ...metadata },
  });
};

it("a player's bonuses are shown oldest first, also where the service lists the newest first", async () => {
  expect(await shownIds()).toEqual(issued);
  deployment.api.misbehave('player/bonuses', { kind: 'rewrite', body: newestFirst({}) });
  expect(await shownIds()).toEqual(issued);
});

it('one of several pages stays in the order of the service, which divides the list', async () => {
  const body = newestFirst({ totalPages: 2, totalItems: 103 });
  deployment.api.misbehave('player/bonuses', { kind: 'rewrite', body });
  expect(await shownIds()).toEqual(issued.toReversed());
});

it('a list with an entry without an id stays as it came', async () => {
  const body = (right: string) =>
    newestFirst({})(right).replace(`"id":${issued[2]}`, `"number":${issued[2]}`);
  deployment.api.misbehave('player/bonuses', { kind: 'rewrite', body });
  expect(await shownIds()).toEqual([undefined, issued[1], issued[0]]);
});
