import { afterEach, describe, expect, it } from 'vitest';
import type { Operation } from '../../src/domain/operation.ts';
import { signingKeys, verify } from '../../src/protocol/signature.ts';
import type { WalletOperator } from '../../src/wallets/wallet-config.ts';
import { betCall, deadlineIn, readCall, SECRET } from './support/calls.ts';
import { type RawRequest, reply, replyAccepted } from './support/raw-wallet.ts';
import { closeOpened, metricValue, stage } from './support/stage.ts';

afterEach(closeOpened);

describe('a bet call', () => {
  it('is accepted, and what arrived is what was signed (I9)', async () => {
    const { wallet, server } = await stage(replyAccepted);
    const body = '{"transactionId":"t-1","amount":12.10,"odd":"\\u0000é"}';
    const answer = await wallet.bet(betCall({ transactionId: 't-1', body, requestId: 'req-1' }));
    expect(answer).toMatchObject({
      kind: 'accepted',
      transactionTime: '2026-01-02T03:04:05Z',
      trace: { sent: true, status: 200 },
    });
    const [request] = server.requests;
    expect(request?.line).toBe('POST /sportsbook/payment/bet HTTP/1.1');
    expect(request?.body.toString()).toBe(body);
    expect(request?.headers['x-request-id']).toBe('req-1');
    expect(Number(request?.headers['x-deadline-ms'])).toBeGreaterThan(3000);
    const signature = request?.headers['x-sign-jws'];
    expect(verify(signature, request?.body ?? Buffer.alloc(0), signingKeys([SECRET])).ok).toBe(
      true,
    );
  });

  it('is declined with text that contains no part of its token, even where it is cut', async () => {
    const token = 'operator-token-1234567890';
    // The text is cut after 255 characters.
    const message = `${'x'.repeat(240)} ${token} is too poor`;
    const { wallet } = await stage(({ socket }) =>
      reply(socket, 400, JSON.stringify({ code: 7, message })),
    );
    const told = { code: 7, message: `${'x'.repeat(240)} ***` };
    const body = JSON.stringify({ transactionId: 't1', token });
    expect(await wallet.bet(betCall({ body }))).toMatchObject(told);
    expect(await wallet.read(readCall({ body }))).toMatchObject(told);
  });

  it.each<[string, string, (request: RawRequest) => void]>([
    [
      'bad_answer',
      'another transactionId',
      ({ socket }) => reply(socket, 200, '{"transactionId":"x"}'),
    ],
    ['bad_answer', 'HTML', ({ socket }) => reply(socket, 200, '<html>')],
    ['bad_answer', 'an empty body', ({ socket }) => reply(socket, 200, '')],
    ['bad_answer', '400 without a code', ({ socket }) => reply(socket, 400, '{}')],
    ['bad_answer', '400 with text for a code', ({ socket }) => reply(socket, 400, '{"code":"7"}')],
    ['bad_answer', '400 with code 100', ({ socket }) => reply(socket, 400, '{"code":100}')],
    [
      'bad_answer',
      '65 KiB',
      ({ socket }) => reply(socket, 200, `{"a":"${'x'.repeat(65 * 1024)}"}`),
    ],
    ['http_error', '401', ({ socket }) => reply(socket, 401, '{"code":1}')],
    ['http_error', '500', ({ socket }) => reply(socket, 500, '{"code":7}')],
    ['http_error', '503', ({ socket }) => reply(socket, 503, '')],
    ['http_error', 'a redirect', ({ socket }) => reply(socket, 302, '', 'location: /x\r\n')],
    ['connection', 'a reset', ({ socket }) => socket.resetAndDestroy()],
    ['timeout', 'nothing', () => undefined],
  ])(
    'leaves a place unknown by %s after %s, having been sent once (I2, I5)',
    async (fault, _, onRequest) => {
      const { wallet, server } = await stage(onRequest);
      const answer = await wallet.bet(betCall({ deadline: deadlineIn(250) }));
      expect(answer).toMatchObject({ kind: 'unknown', fault, trace: { sent: true } });
      expect(server.requests).toHaveLength(1);
    },
  );

  it('stays unknown when the adapter fails over the answer (I2)', async () => {
    const { wallet } = await stage(replyAccepted);
    const call = betCall();
    // Read only when the answer is judged.
    Object.defineProperty(call, 'transactionId', {
      get: () => {
        throw new Error('bug');
      },
    });
    expect(await wallet.bet(call)).toMatchObject({ kind: 'unknown', fault: 'bad_answer' });
    expect(wallet.inFlight('money')).toBe(0);
  });
});

describe('a read', () => {
  it('gives the body as it came', async () => {
    const body = '{"userId":"p1","currency":"EUR","amount":12.10}';
    const { wallet, server } = await stage(({ socket }) => reply(socket, 200, body));
    const answer = await wallet.read(readCall({ operation: 'balance' }));
    expect(answer).toMatchObject({ kind: 'answered', document: { text: body } });
    expect(server.requests[0]?.line).toBe('POST /sportsbook/user/balance HTTP/1.1');
  });
});

describe('the operator’s status', () => {
  it.each<[WalletOperator['status'], Operation, string | undefined]>([
    ['maintenance', 'profile', 'maintenance'],
    ['maintenance', 'place', 'maintenance'],
    ['maintenance', 'rollback', 'maintenance'],
    ['suspended', 'profile', 'suspended'],
    ['suspended', 'balance', 'suspended'],
    ['suspended', 'place', 'suspended'],
    ['suspended', 'settle', undefined],
    ['suspended', 'unsettle', undefined],
    ['suspended', 'rollback', undefined],
    ['suspended', 'update', undefined],
    ['active', 'place', undefined],
  ])('%s answers %s with %s', async (status, operation, reason) => {
    const { wallet, server, metrics } = await stage(replyAccepted, {}, status);
    expect(wallet.refusal(operation)).toBe(reason);
    if (reason === undefined || operation === 'profile' || operation === 'balance') return;
    expect(await wallet.bet(betCall({ operation }))).toMatchObject({ kind: 'notSent', reason });
    expect(server.connections).toBe(0);
    expect(await metricValue(metrics.rejected, { operator: 'alpha', reason })).toBe(1);
  });
});
