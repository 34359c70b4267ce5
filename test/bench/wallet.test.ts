import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Child, startChild } from '../../bench/support/child.ts';

let wallet: Child;
let url: string;

beforeAll(async () => {
  wallet = await startChild({ script: 'bench/support/wallet.ts' });
  const { port } = await wallet.line((line) => typeof line.port === 'number');
  url = `http://127.0.0.1:${port}`;
});
afterAll(() => wallet[Symbol.asyncDispose]());

async function call(body: Readonly<Record<string, unknown>>): Promise<void> {
  const sent = { method: 'POST', body: JSON.stringify(body) };
  expect((await fetch(`${url}/payment/bet`, sent)).status).toBe(200);
}

const seen = async (prefix: string) => await (await fetch(`${url}/?${prefix}`)).text();

describe('the wallet of the benchmarks', () => {
  it('counts what the service has asked for, and nothing that the gateway does of itself', async () => {
    await call({ transactionId: 'a-1', type: 1 });
    await call({ transactionId: 'a-1', type: 3, errorCode: 10 });
    await call({ transactionId: 'a-2', type: 3, errorCode: 50 });
    await call({ transactionId: 'a-3', type: 3 });
    await call({ transactionId: 'a-3', type: 3 });
    await call({ transactionId: 'b-1', type: 1 });
    expect(await seen('a-')).toBe('a-1 1\na-2 1\na-3 2');
  });
});
