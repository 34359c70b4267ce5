import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { CODES } from '../../src/domain/codes.ts';
import { openApiDocument } from '../../src/openapi/document.ts';
import { callbackEndpoints } from '../../src/operations/routes.ts';
import {
  balanceBody,
  placeBody,
  profileBody,
  rollbackBody,
  settleBody,
  unsettleBody,
  updateBody,
} from '../../src/protocol/callback-bodies.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { partly } from '../support/partly.ts';
import { routesOf } from '../support/routes.ts';
import { documented, expectDocumented } from './support/documented.ts';

describe('a running gateway', () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startTestGateway();
  });
  afterAll(async () => {
    await gateway.close();
  });

  it('serves the document', async () => {
    const response = await fetch(`${gateway.baseUrl}/openapi.json`);
    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(await response.json()).toEqual(JSON.parse(JSON.stringify(openApiDocument)));
  });

  it('has the documented routes and no others', () => {
    const callbacks = callbackEndpoints(partly({}), partly({}));
    const served = [
      ...routesOf(gateway.app).filter((route) => !route.endsWith(' /openapi.json')),
      ...callbacks.map(({ method, path }) => `${method} ${path}`),
    ];
    expect(served.sort()).toEqual(documented.map(({ route }) => route).sort());
  });

  it('answers callbacks as documented', async () => {
    const player = await gateway.player({ balance: '100' });
    const { service } = gateway;
    const slip = service.slip({ ...player, amount: '12.10' });
    const asked = async (method: 'POST' | 'PUT', path: string, body: string) => {
      const answer = await service.call(method, path, body);
      expectDocumented(`${method} ${path}`, answer);
      return answer.status;
    };
    const won = { amount: '20', resultType: 'won', token: undefined } as const;
    expect(await asked('POST', '/user/profile', profileBody(player.token))).toBe(200);
    expect(await asked('POST', '/user/balance', balanceBody(player))).toBe(200);
    expect(await asked('POST', '/payment/bet', placeBody(slip))).toBe(200);
    expect(await asked('PUT', '/payment/bet', updateBody(slip, '1.3'))).toBe(200);
    expect(await asked('PUT', '/payment/bet', settleBody(slip, won))).toBe(200);
    expect(await asked('PUT', '/payment/bet', unsettleBody(slip, '20'))).toBe(200);
    expect(await asked('PUT', '/payment/bet', rollbackBody(slip, 8))).toBe(200);
    expect(await asked('POST', '/user/profile', '{}')).toBe(400);
    expect(await asked('POST', '/user/balance', '{"token":"x"}')).toBe(400);
    expect(await asked('POST', '/payment/bet', '[]')).toBe(400);
    expect(await asked('PUT', '/payment/bet', '{"type":4}')).toBe(400);
    expect(await asked('PUT', '/payment/bet', `{"a":"${'x'.repeat(300_000)}"}`)).toBe(413);
  });

  it('refuses the unsigned as documented', async () => {
    for (const { route } of documented) {
      const [method = '', path = ''] = route.split(' ');
      const body = '{"cid":"alpha-key"}';
      const response = await fetch(`${gateway.baseUrl}${path}`, { method, body });
      const text = await response.text();
      expectDocumented(route, { status: response.status, body: text });
      expect(codeOf(JSON.parse(text)), route).toBe(CODES.badSignature);
    }
  });

  it('takes of every route no more bytes than are documented', async () => {
    for (const { route, endpoint } of documented) {
      const [method = '', path = ''] = route.split(' ');
      const body = 'x'.repeat(300_000);
      const response = await fetch(`${gateway.baseUrl}${path}`, { method, body });
      const { examples } = endpoint.responses[413]?.content['application/json'] ?? {};
      const said = Object.values(examples ?? {}).map(({ value }) => value);
      expect([route, response.status, await response.json()]).toEqual([route, 413, ...said]);
    }
  });

  it('refuses an operator from another address as documented', async () => {
    await gateway.reconfigure('alpha', { api: { allowedIps: ['192.0.2.0/24'] } });
    onTestFinished(() => gateway.reconfigure('alpha', {}));
    const operator = gateway.operator('alpha');
    for (const { route, endpoint } of documented) {
      if (endpoint.tags.includes('callbacks')) continue;
      const answer = await operator.call(route.split(' ')[1] ?? '', {});
      expectDocumented(route, answer);
      expect([route, answer.status]).toEqual([route, 403]);
    }
    await operator.close();
  });

  it('answers operators as documented, with no member left out of the document', async () => {
    const operator = gateway.operator('alpha');
    const player = await gateway.player();
    const slip = gateway.service.slip({ ...player, amount: '1' });
    const { transactionId } = slip;
    await gateway.service.call('POST', '/payment/bet', placeBody(slip));
    // So that it is taken over as a delivery, and every member of a bet has a value.
    gateway
      .wallet('alpha')
      .misbehave('rollback', { kind: 'status', status: 500 }, { transactionId });
    await gateway.service.call('PUT', '/payment/bet', rollbackBody(slip, 8));
    const session = { operatorUser: 'x', currency: 'USD', operatorToken: 'a-token' };
    const asked = async (path: string, fields: object) => {
      const answer = await operator.call(path, fields);
      expectDocumented(`POST ${path}`, answer);
      return answer;
    };
    expect(await asked('/operator/sessions', session)).toMatchObject({ status: 201 });
    // A valid code of three letters that is not the operator's: refused for that reason only.
    expect(await asked('/operator/sessions', { ...session, currency: 'XXX' })).toMatchObject({
      status: 400,
      json: { code: CODES.validation, message: expect.stringMatching(/^currency: /) },
    });
    const answer = { contentType: expect.any(String), body: expect.any(String), truncated: false };
    expect(await asked('/operator/bets', { transactionId })).toMatchObject({
      status: 200,
      json: {
        operations: [
          { operation: 'place', delivery: null, attempts: [{ answer }] },
          { operation: 'rollback', delivery: { state: 'pending' }, attempts: [{ answer }] },
        ],
      },
    });
    expect(await asked('/operator/bets', { transactionId: 'nobody' })).toMatchObject({
      status: 404,
    });
    expect(await asked('/operator/statements', { day: '2020-01-01' })).toMatchObject({
      status: 404,
    });
    expect(await asked('/operator/sessions/revoke', { operatorUser: 'x' })).toMatchObject({
      status: 200,
    });
    await operator.close();
  });
});

function codeOf(value: unknown): unknown {
  return isObject(value) ? value.code : undefined;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
