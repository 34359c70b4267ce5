import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { unreachable } from '../../../src/domain/unreachable.ts';
import type { Fate } from '../plan/plan.ts';
import type { WalletAnswer, WalletCall } from './ledger.ts';

const OPERATION: Readonly<Record<string, WalletCall['operation']>> = {
  'POST 1': 'place',
  'PUT 1': 'unsettle',
  'PUT 2': 'settle',
  'PUT 3': 'rollback',
  'PUT 5': 'update',
};

export async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** Detached JWS, HS256, as the protocol requires; written without the gateway's own code. */
export function isSigned(body: Buffer, header: unknown, secret: string): boolean {
  if (typeof header !== 'string') return false;
  const [head = '', payload, signature = ''] = header.split('.');
  if (payload !== '') return false;
  const given = Buffer.from(signature, 'base64url');
  const input = `${head}.${body.toString('base64url')}`;
  const expected = createHmac('sha256', secret).update(input).digest();
  return given.length === expected.length && timingSafeEqual(given, expected);
}

/** @throws Error for a call that no gateway may send */
export function callOf(method: string, body: Buffer): WalletCall {
  const text = body.toString('utf8');
  const fields: Readonly<Record<string, unknown>> = JSON.parse(text);
  const operation = OPERATION[`${method} ${fields.type}`];
  if (operation === undefined) throw new Error(`no such operation: ${method} ${text}`);
  const word = (name: string) => {
    const value = fields[name];
    return typeof value === 'string' ? value : undefined;
  };
  return {
    operation,
    transactionId: word('transactionId') ?? '',
    requestId: word('requestId') ?? '',
    user: word('userId') ?? '',
    // The exact text: a double could not hold it.
    amount: /"amount":([0-9.]+)/.exec(text)?.[1] ?? '0',
    currency: word('currency') ?? '',
    token: word('token'),
    resultType: word('resultType'),
    coefficient: /"coefficient":([0-9.]+)/.exec(text)?.[1],
  };
}

export function answerText(
  call: WalletCall,
  answer: WalletAnswer,
): { readonly status: number; readonly body: string } {
  const { transactionId } = call;
  return answer.ok
    ? { status: 200, body: JSON.stringify({ transactionId, transactionTime: answer.time }) }
    : { status: 400, body: JSON.stringify({ code: answer.code, message: answer.message }) };
}

/** Sends an answer as the fate says. */
export function answerBadly(
  response: ServerResponse,
  fate: Fate,
  call: WalletCall,
  answer: WalletAnswer,
): void {
  const good = answerText(call, answer);
  switch (fate.answer) {
    case 'good':
      reply(response, good.status, good.body);
      break;
    case 'slow':
      setTimeout(() => reply(response, good.status, good.body), fate.delayMs);
      break;
    case 'hang':
      break;
    case 'reset':
      response.socket?.resetAndDestroy();
      break;
    case 'cutShort':
      response.writeHead(200, { 'content-length': 500 });
      response.write(good.body, () => response.socket?.destroy());
      break;
    case 'status500':
      reply(response, 500, '{"code":100,"message":"broken"}');
      break;
    case 'code': {
      const refusal = { ok: false, code: fate.code, message: 'as planned' } as const;
      const { status, body } = answerText(call, refusal);
      reply(response, status, body);
      break;
    }
    default:
      unreachable(fate.answer);
  }
}

export function reply(response: ServerResponse, status: number, body: string): void {
  if (response.destroyed) return;
  response
    .writeHead(status, {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
    })
    .end(body);
}
