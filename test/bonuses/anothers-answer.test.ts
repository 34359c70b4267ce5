import { describe, it, type TestContext } from 'vitest';
import { templateText } from '../../tools/simulator/bonus-api/records.ts';
import { batchBody, createTemplate, objectOf, startBonusGateway } from './support/bonus-gateway.ts';

/** Each case has its own gateway, so that all of them wait for their read-back concurrently. */
async function openDeployment({ onTestFinished }: TestContext) {
  const deployment = await startBonusGateway({ worker: true, service: { bonusTimeoutMs: 4_000 } });
  onTestFinished(() => deployment.close());
  const { alpha, beta, api } = deployment;
  const template = await deployment.template(alpha, { name: 'Asked for' });
  const issue = (operator: typeof alpha, templateId: number, users: readonly string[]) =>
    operator.call('/bonuses/bonus/applyBatch', batchBody(templateId, users));
  /** The service's own words to a batch. */
  const answerTo = async (operator: typeof alpha, templateId: number, users: readonly string[]) => {
    let said = '';
    const listen = (right: string) => {
      said = right;
      return right;
    };
    api.misbehave('bonus/applyBatch', { kind: 'rewrite', body: listen }, { calls: 1 });
    await issue(operator, templateId, users);
    return said;
  };
  return { deployment, alpha, beta, api, template, issue, answerTo };
}

/** The same refusals as an object, whose entries name the player by their key alone. */
function keyedByPlayer(said: string): string {
  const { errorItems } = objectOf(JSON.parse(said));
  const entries = Object.values(objectOf(errorItems)).map(objectOf);
  const keyed = entries.map(({ userId, ...refusal }) => [String(userId), refusal]);
  return JSON.stringify({ items: {}, errorItems: Object.fromEntries(keyed) });
}

type Deployment = Awaited<ReturnType<typeof openDeployment>>;

describe.concurrent('a batch that gets the answer to another call stays open until it is found', () => {
  it.for([
    [
      'another operator’s batch',
      async ({ deployment, beta, answerTo }: Deployment) =>
        await answerTo(beta, await deployment.template(beta), ['ann', 'ben']),
    ],
    [
      'another operator’s batch that was refused for everybody, in entries keyed by player',
      async ({ deployment, beta, issue, answerTo }: Deployment) => {
        const template = await deployment.template(beta);
        await issue(beta, template, ['ann', 'ben', 'carl']);
        return keyedByPlayer(await answerTo(beta, template, ['ann', 'ben']));
      },
    ],
  ] as const)('%s (I2, I8)', async ([, anothers], context) => {
    const { expect } = context;
    const scene = await openDeployment(context);
    const { deployment, alpha, api, template, issue } = scene;
    const said = await anothers(scene);
    api.misbehave('bonus/applyBatch', { kind: 'rewrite', body: () => said }, { calls: 1 });
    const first = await issue(alpha, template, ['ann', 'ben']);
    expect([first.status, first.json?.code]).toEqual([502, 100]);
    expect(first.json?.message).toContain('still open');

    const found = await deployment.untilClosed(() => issue(alpha, template, ['ann', 'ben']));
    expect(Object.values(objectOf(found.json?.items))).toMatchObject([
      { userId: 'ann', templateId: template },
      { userId: 'ben', templateId: template },
    ]);
    const issued = api.bonuses.filter((bonus) => bonus.template.id === template);
    expect(issued).toHaveLength(2);
  });
});

describe.concurrent('a create that gets the answer to another create stays open until it is found', () => {
  it('so that neither of two operators is given what was made for the other (I8)', async (context) => {
    const { expect } = context;
    const { deployment, alpha, beta, api } = await openDeployment(context);
    const made = () => [...api.templates.values()].filter(({ name }) => name.startsWith('Of '));
    const others = (right: string) => {
      const [other] = made().filter(({ name }) => !right.includes(name));
      return other === undefined ? right : templateText(other);
    };
    api.misbehave('templates/add', { kind: 'rewrite', body: others }, { calls: 2 });
    const gate = api.hold('templates/add', { point: 'after' });
    const ofAlpha = () => createTemplate(alpha, { name: 'Of alpha' });
    const ofBeta = () => createTemplate(beta, { name: 'Of beta' });
    const first = [ofAlpha(), ofBeta()];
    await gate.arrivedTimes(2);
    gate.release();
    for (const { status, json } of await Promise.all(first)) {
      expect([status, json?.code]).toEqual([502, 100]);
      expect(json?.message).toContain('still open');
    }
    const found = [await deployment.untilClosed(ofAlpha), await deployment.untilClosed(ofBeta)];
    expect(found.map(({ json }) => json?.name)).toEqual(['Of alpha', 'Of beta']);
    expect(made()).toHaveLength(2);
  });
});

it.concurrent('a template that is not what was asked for is the create’s own where nobody else asked for it', async (context) => {
  const { expect } = context;
  const { alpha, api } = await openDeployment(context);
  const body = (right: string) => right.replace('"maxWin":4', '"maxWin":5');
  api.misbehave('templates/add', { kind: 'rewrite', body }, { calls: 1 });
  const made = await createTemplate(alpha, { name: 'Rounded' });
  expect([made.status, made.json?.name]).toEqual([200, 'Rounded']);
});
