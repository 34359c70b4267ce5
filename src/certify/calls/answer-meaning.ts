import { unreachable } from '../../domain/unreachable.ts';
import type { Exchange } from '../../outbound/http-call.ts';
import type { HttpResponse } from '../../outbound/http-message.ts';
import {
  type JsonDocument,
  JsonError,
  jsonObjectIn,
  jsonObjectOrError,
} from '../../protocol/json.ts';
import type { WalletAdapter } from '../../wallets/adapters/adapter.ts';
import type { BetCall, ReadCall } from '../../wallets/call.ts';

/** How the gateway, with the applied dialect, reads an answer. */
export type Reading =
  | { readonly kind: 'accepted' }
  | { readonly kind: 'declined'; readonly code: number }
  /** A refusal in proper form whose code leaves open whether a place was debited. */
  | { readonly kind: 'open'; readonly code: number }
  | { readonly kind: 'broken'; readonly why: string };

/** How a person would read an answer, whatever its form: cases about money judge by this. */
export type AnswerMeaning =
  | { readonly kind: 'accepted'; readonly document: JsonDocument | undefined }
  /** The code is undefined if none can be recognised. */
  | { readonly kind: 'refused'; readonly code: number | undefined }
  | { readonly kind: 'none' };

export type Call =
  | { readonly kind: 'bet'; readonly call: BetCall }
  | { readonly kind: 'read'; readonly call: ReadCall };

/** Members in which wallets put a code (service protocol, How real wallets deviate). */
const CODE_MEMBER = /^(?:err(?:or)?[_-]?)?code$|^err(?:or)?$|^status$/i;

/** Reads by the gateway's own adapter: a certificate must predict how real traffic is handled. */
export function readingOf(
  adapter: WalletAdapter,
  { kind, call }: Call,
  exchange: Exchange,
): Reading {
  if (exchange.kind !== 'response') return { kind: 'broken', why: exchange.error };
  const verdict =
    kind === 'bet' ? adapter.betVerdict(call, exchange) : adapter.readVerdict(call, exchange);
  switch (verdict.kind) {
    case 'accepted':
    case 'answered':
      return { kind: 'accepted' };
    case 'declined':
      return { kind: 'declined', code: verdict.code };
    case 'unknown':
      return verdict.code === undefined
        ? { kind: 'broken', why: verdict.error }
        : { kind: 'open', code: verdict.code };
    default:
      return unreachable(verdict);
  }
}

/** The reading if there is one, else a guess. */
export function meaningOf(reading: Reading, exchange: Exchange, call: Call): AnswerMeaning {
  if (exchange.kind !== 'response') return { kind: 'none' };
  const document = jsonObjectIn(exchange.body);
  switch (reading.kind) {
    case 'accepted':
      return { kind: 'accepted', document };
    case 'declined':
    case 'open':
      return { kind: 'refused', code: reading.code };
    case 'broken':
      return guess(exchange, document, call);
    default:
      return unreachable(reading);
  }
}

function guess(
  { status, body }: HttpResponse,
  document: JsonDocument | undefined,
  call: Call,
): AnswerMeaning {
  if (status >= 500 || status < 200 || (status >= 300 && status < 400)) return { kind: 'none' };
  const code = document && codesIn(document)[0]?.code;
  if (status >= 400) return { kind: 'refused', code: code === status ? undefined : code };
  const isSuccess = document !== undefined && isReceipt(document, call);
  if (code !== undefined && code !== 0 && !isSuccess) return { kind: 'refused', code };
  const isBlank = body.toString('latin1').trim() === '';
  return document !== undefined || isBlank ? { kind: 'accepted', document } : { kind: 'none' };
}

/** Whether it names the bet and a time, which no refusal does: some successes have a code. */
function isReceipt(document: JsonDocument, { kind, call }: Call): boolean {
  if (kind !== 'bet') return false;
  return document.value.transactionId === call.transactionId && document.has('transactionTime');
}

/** Members that may be the code, `code` itself first. */
export function codesIn(document: JsonDocument): readonly { name: string; code: number }[] {
  const found = Object.entries(document.value).flatMap(([name, value]) =>
    CODE_MEMBER.test(name) && typeof value === 'number' && Number.isSafeInteger(value)
      ? { name, code: value }
      : [],
  );
  return found.sort((a, b) => Number(b.name === 'code') - Number(a.name === 'code'));
}

/** Whether the body has anything that may be a code. */
export function namesCode(exchange: Exchange): boolean {
  const document = exchange.kind === 'response' ? jsonObjectIn(exchange.body) : undefined;
  return document !== undefined && codesIn(document).length > 0;
}

/** For reasons: `HTTP 400 with code 7`, or why the body cannot be read. */
export function describeExchange(exchange: Exchange): string {
  if (exchange.kind !== 'response') return `no answer (${exchange.error})`;
  const status = `HTTP ${exchange.status}`;
  const document = jsonObjectOrError(exchange.body);
  if (document instanceof JsonError) {
    if (exchange.body.length > 0) return `${status}, and ${document.answerSummary}`;
    // A success needs one; to its developer it looks right where the language could not write it.
    return exchange.status < 300 ? `${status}, and the body is empty` : status;
  }
  const [first] = codesIn(document);
  return first === undefined ? status : `${status} with ${first.name} ${first.code}`;
}
