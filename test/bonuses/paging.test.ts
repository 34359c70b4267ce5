import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { SimulatedOperator } from '../../tools/simulator/operator.ts';
import { type BonusGateway, SERVICE_CID, startBonusGateway } from './support/bonus-gateway.ts';

let deployment: BonusGateway;
let shared: readonly number[];
beforeEach(async () => {
  deployment = await startBonusGateway();
  shared = [];
});
afterEach(() => deployment.close());

/** Assigns templates of the service's console to an operator. */
async function give(operatorId: string, count: number): Promise<readonly number[]> {
  const ids = Array.from({ length: count }, (_, index) => {
    return deployment.api.createTemplate(SERVICE_CID, { name: `No. ${index}` }).id;
  });
  await deployment.sql(
    `INSERT INTO bonus_templates (upstream_cid, template_id, operator_id, origin)
     SELECT $1, unnest($2::bigint[]), $3, 'assigned'`,
    [SERVICE_CID, ids, operatorId],
  );
  return ids;
}

async function share(...ids: readonly number[]): Promise<void> {
  shared = [...shared, ...ids];
  await deployment.gateway.reconfigure('alpha', { bonuses: { sharedTemplates: shared } });
}

async function list(operator: SimulatedOperator, page?: unknown) {
  const answer = await operator.call('/bonuses/templates', page === undefined ? {} : { page });
  const items: unknown = answer.json?.items;
  const ids = Array.isArray(items) ? items.map((item: { id: number }) => item.id) : [];
  return { ...answer, ids, metadata: answer.json?.metadata };
}

describe('POST /bonuses/templates', () => {
  it.each([
    [0, 0],
    [101, 2],
  ])('counts %i templates as %i pages of what the operator sees', async (count, totalPages) => {
    // Other operators have more, which must not be counted.
    await give('beta', 3);
    const own = await give('alpha', count);
    const first = await list(deployment.alpha);
    expect(first.metadata).toEqual({
      totalPages,
      totalItems: count,
      currentPage: 1,
      itemsPerPage: 100,
    });
    expect(first.ids).toEqual(own.slice(0, 100));
    expect((await list(deployment.alpha, 2)).ids).toEqual(own.slice(100));
    expect((await list(deployment.alpha, 3)).ids).toEqual([]);
  });

  it('is right for 5,514 templates without reading all of them', async () => {
    const own = await give('alpha', 5_514);
    const before = deployment.api.requests.length;
    const last = await list(deployment.alpha, 56);
    expect(last.metadata).toEqual({
      totalPages: 56,
      totalItems: 5_514,
      currentPage: 56,
      itemsPerPage: 100,
    });
    expect(last.ids).toEqual(own.slice(5_500));
    expect(deployment.api.requests.length - before).toBe(14);
    expect((await list(deployment.alpha, 57)).ids).toEqual([]);
    const asked = deployment.api.requests.length;
    expect((await list(deployment.alpha, 56)).body).toBe(last.body);
    expect(deployment.api.requests.length).toBe(asked);
  });

  it('shows shared templates among the own ones, oldest first, each once', async () => {
    const common = deployment.api.createTemplate(SERVICE_CID, { name: 'Common' });
    const [own = 0] = await give('alpha', 1);
    await share(common.id, own);
    const listed = await list(deployment.alpha);
    expect(listed.ids).toEqual([common.id, own]);
    expect(listed.metadata).toMatchObject({ totalItems: 2, totalPages: 1 });
    expect(listed.body).not.toContain(SERVICE_CID);
    expect((await list(deployment.beta)).ids).toEqual([]);
  });

  it('does not count a shared template that the service does not have', async () => {
    const [own] = await give('alpha', 1);
    await share(999_999);
    const listed = await list(deployment.alpha);
    expect(listed.ids).toEqual([own]);
    expect(listed.metadata).toMatchObject({ totalItems: 1 });
  });

  it.each([
    [429, '{"code":10,"message":"slow down"}', 429],
    [500, '', 502],
  ])('but a %i %s says nothing about a template', async (status, body, told) => {
    await give('alpha', 1);
    deployment.api.misbehave('template', { kind: 'status', status, body }, { calls: 1 });
    expect((await list(deployment.alpha)).status).toBe(told);
    expect((await list(deployment.alpha)).ids).toHaveLength(1);
  });

  it.each([0, '1'])('refuses the page %j with 400/5 naming it', async (page) => {
    const refused = await list(deployment.alpha, page);
    expect([refused.status, refused.json?.code]).toEqual([400, 5]);
    expect(refused.json?.message).toMatch(/^page: /);
  });

  it('lists from kept copies while the service is away', async () => {
    const own = await give('alpha', 2);
    await list(deployment.alpha);
    await deployment.api.down();
    expect((await list(deployment.alpha)).ids).toEqual(own);
  });

  it('shows the walk’s newer copy of a template (worker)', async () => {
    await deployment.close();
    deployment = await startBonusGateway({ worker: true });
    const [own = 0] = await give('alpha', 1);
    const disabled = async () => {
      const { json } = await list(deployment.alpha);
      return JSON.stringify(json?.items).includes('"isEnable":false');
    };
    expect(await disabled()).toBe(false);
    deployment.api.setEnabled(own, false);
    // As if the last walk were long ago; the worker's first one may still be under way and end after this.
    const walkAnew = () =>
      deployment.sql("UPDATE bonus_walks SET completed_at = now() - interval '1 hour'");
    await expect
      .poll(() => walkAnew().then(disabled), { timeout: 15_000, interval: 200 })
      .toBe(true);
  });
});
