import type { Message } from './sequence.ts';

const METHODS: Readonly<Record<string, string>> = {
  place: 'POST',
  settle: 'PUT',
  unsettle: 'PUT',
  rollback: 'PUT',
  update: 'PUT',
};

/** Characters that a terminal would act on; inside JSON they can be written as escapes. */
const UNSAFE = /[\p{Cc}\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/gu;

/** A request as a shell command; `$SIGNATURE` and `***` stand for secrets. Undefined if it was not kept. */
export function curlOf({ operation, body, to, player }: Message): string | undefined {
  if (operation === undefined || body === null) return undefined;
  const base = to === 'wallet' ? 'WALLET_URL' : 'GATEWAY_URL';
  const sent = player === undefined ? body : withPlayer(body, player);
  const escaped = sent.replaceAll(UNSAFE, (one) =>
    one === '\n' || one === '\t' ? ' ' : `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  return [
    `curl -sS -X ${METHODS[operation] ?? 'POST'} "$${base}/payment/bet"`,
    "-H 'content-type: application/json'",
    '-H "x-sign-jws: $SIGNATURE"',
    `--data-raw ${quoted(escaped)}`,
  ].join(' \\\n  ');
}

const USER_ID = /("userId"\s*:\s*)("(?:[^"\\]|\\.)*")/g;

/** The kept text is what the service sent; a wallet does not know the service's `userId`. */
function withPlayer(body: string, { kept, sent }: NonNullable<Message['player']>): string {
  return body.replaceAll(USER_ID, (member, name: string, id: string) =>
    id === JSON.stringify(kept) ? `${name}${JSON.stringify(sent)}` : member,
  );
}

/** Quotes any text for a POSIX shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
