import type { HttpResponse } from '../../../../src/outbound/http-message.ts';
import type { BetCall, ReadCall } from '../../../../src/wallets/call.ts';
import type { WalletSettings } from '../../../../src/wallets/wallet-config.ts';

/**
 * What the contract test must know about an adapter: how its kind of wallet answers. Each adapter in the list
 * (`src/wallets/adapters/index.ts`) has a specimen here.
 */
export interface Specimen {
  /** Settings that it needs in addition to the usual ones. */
  readonly settings?: Partial<WalletSettings>;
  /** The wallet's good answer to a bet call. */
  accepts(call: Pick<BetCall, 'transactionId'>): HttpResponse;
  /** The wallet's refusal, with its equivalent of the protocol's `code`. */
  refuses(code: number): HttpResponse;
  /** The wallet's good answers to reads; `amount` is decimal text. */
  profile(user: string, currency: string): HttpResponse;
  balance(call: Pick<ReadCall, 'operation'>, amount: string): HttpResponse;
}

export const SPECIMENS: Readonly<Record<string, Specimen>> = {
  native: {
    accepts: ({ transactionId }) =>
      json(200, { transactionId, transactionTime: '2026-01-02T03:04:05.678Z' }),
    refuses: (code) => json(400, { code, message: 'No' }),
    profile: (userId, currency) => json(200, { userId, currency, currencies: [currency] }),
    balance: (_call, amount) => ({
      status: 200,
      body: Buffer.from(`{"userId":"u","currency":"EUR","amount":${amount}}`),
    }),
  },
};

function json(status: number, body: object): HttpResponse {
  return { status, body: Buffer.from(JSON.stringify(body)) };
}
