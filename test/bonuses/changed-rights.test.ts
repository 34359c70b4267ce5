import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  type BonusGateway,
  batchBody,
  SERVICE_CID,
  startBonusGateway,
  templateBody,
} from './support/bonus-gateway.ts';

let deployment: BonusGateway;
/** Created in the service's console, and shared with alpha as long as alpha's file says so. */
let shared: number;
beforeEach(async () => {
  deployment = await startBonusGateway();
  shared = deployment.api.createTemplate(SERVICE_CID, { name: 'Shared' }).id;
  await share(shared);
});
afterEach(() => deployment.close());

const share = (...sharedTemplates: readonly number[]) =>
  deployment.gateway.reconfigure('alpha', { bonuses: { sharedTemplates } });
const apply = () =>
  deployment.alpha.call('/bonuses/bonus/applyBatch', batchBody(shared, ['ann', 'ben']));
const create = () =>
  deployment.alpha.call('/bonuses/templates/add', templateBody({ name: 'In USD' }));

describe('a call that was made before is answered by what became of it, whatever is allowed now', () => {
  it('the first answer where the template is not shared any more', async () => {
    const first = await apply();
    expect(first.status).toBe(200);
    await share();
    const again = await apply();
    expect([again.status, again.body]).toEqual([200, first.body]);
    expect(deployment.api.bonuses).toHaveLength(2);
  });

  it('still open, and no missing template, where it may have issued', async () => {
    const how = { kind: 'status', status: 500, effect: 'applied' } as const;
    deployment.api.misbehave('bonus/applyBatch', how, { calls: 1 });
    expect((await apply()).status).toBe(502);
    await share();
    const again = await apply();
    expect([again.status, again.json?.code]).toEqual([409, 8]);
  });

  it('and where the currency is not the operator’s any more', async () => {
    const batch = await apply();
    const template = await create();
    await deployment.gateway.reconfigure('alpha', { currencies: ['EUR'] });
    const again = [await apply(), await create()];
    expect(again.map(({ status, body }) => [status, body])).toEqual([
      [200, batch.body],
      [200, template.body],
    ]);
  });

  it('but a new call is refused', async () => {
    await share();
    expect((await apply()).status).toBe(404);
    await deployment.gateway.reconfigure('alpha', { currencies: ['EUR'] });
    expect([(await apply()).status, (await create()).status]).toEqual([400, 400]);
  });
});
