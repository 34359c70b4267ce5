import { unreachable } from '../../domain/unreachable.ts';
import type { SignedAs } from './forged-requests.ts';
import type { RecordedCall } from './recorded-call.ts';

/** A value that a script replaces by a shell variable. */
export interface Variable {
  readonly value: string;
  readonly name: string;
  /** What it must be set to, for people. */
  readonly about: string;
}

/** `sign SECRET BODY [HEADER]` prints the value of x-sign-jws; it needs nothing but openssl. */
const SIGN = `b64() { openssl base64 -A | tr '+/' '-_' | tr -d '='; }
sign() {
  header=\${3:-eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9}
  mac=$(printf %s "$header.$(printf %s "$2" | b64)" | openssl dgst -sha256 -hmac "$1" -binary | b64)
  printf %s "$header..$mac"
}
uuid() { openssl rand -hex 16 | sed 's/^\\(.\\{8\\}\\)\\(.\\{4\\}\\).\\(.\\{3\\}\\).\\(.\\{3\\}\\)/\\1-\\2-4\\3-8\\4-/'; }`;

/** Headers that curl sets by itself, that sign, or that say nothing about the wallet. */
const LEFT_OUT = ['accept', 'accept-encoding', 'user-agent', 'x-sign-jws', 'x-sign'];

/** The calls as lines for a shell: signed again with `$WALLET_SECRET`, with new ids for bets and requests. */
export function scriptOf(
  origin: string,
  calls: readonly RecordedCall[],
  variables: readonly Variable[],
): string {
  const used = variables.filter(({ value }) => value !== '' && isUsed(calls, value));
  const ids = [
    ...named('BET', calls, ({ call }) => (call.kind === 'bet' ? call.call.transactionId : '')),
    ...named('REQUEST', calls, ({ call }) => call.call.requestId),
  ];
  // The longest first: if a token were the beginning of another one, the rest of that would remain.
  const known = [...used, ...ids].sort((a, b) => b.value.length - a.value.length);
  const lines = calls.flatMap((recorded, at) => {
    const line = lineOf(origin, recorded, known);
    if (isBeside(calls, at)) return [`${line} &`];
    return at > 0 && isBeside(calls, at - 1) ? [line, 'wait'] : [line];
  });
  return [
    '# Set WALLET_SECRET to the secret that you share with the gateway.',
    ...used.map(({ name, about }) => `# Set ${name} to ${about}.`),
    SIGN,
    ...ids.map(({ name }) => `${name}=$(uuid)`),
    ...lines,
  ].join('\n');
}

/** Ids that must be new each time; equal ids share a name. */
function named(
  prefix: string,
  calls: readonly RecordedCall[],
  idOf: (recorded: RecordedCall) => string,
): readonly Variable[] {
  const values = [...new Set(calls.map(idOf))].filter((value) => isUsed(calls, value));
  return values.map((value, at) => ({ value, name: `${prefix}_${at + 1}`, about: '' }));
}

function isUsed(calls: readonly RecordedCall[], value: string): boolean {
  if (value === '') return false;
  return calls.some(
    ({ request }) =>
      request.body.includes(value) || Object.values(request.headers).some((one) => one === value),
  );
}

/** Whether the next call began before this one was answered. */
function isBeside(calls: readonly RecordedCall[], at: number): boolean {
  const [one, next] = [calls[at], calls[at + 1]];
  return one !== undefined && next !== undefined && next.atMs < one.atMs + Math.floor(one.ms);
}

function lineOf(origin: string, recorded: RecordedCall, known: readonly Variable[]): string {
  const { request, signedAs, operation } = recorded;
  const body = quoted(request.body.toString('utf8'), known);
  const signature = signatureOf(signedAs, known);
  const headers = Object.entries(request.headers)
    .filter(([name]) => !LEFT_OUT.includes(name))
    .map(([name, value]) => `-H ${quoted(`${name}: ${value}`, known)}`);
  const legacy = request.headers['x-sign'] !== undefined && signature !== undefined;
  const parts = [
    `curl -sS -w '\\n%{http_code}\\n' -X ${request.method} ${quoted(origin + request.path, [])}`,
    ...headers,
    ...(signature === undefined ? [] : [`-H "x-sign-jws: ${signature}"`]),
    ...(legacy ? [`-H "x-sign: ${signature}"`] : []),
    `--data-binary "$BODY"`,
  ];
  return `# ${operation}\nBODY=${body}\n${parts.join(' \\\n  ')}`;
}

function signatureOf(signedAs: SignedAs, known: readonly Variable[]): string | undefined {
  switch (signedAs.kind) {
    case 'proper':
      return '$(sign "$WALLET_SECRET" "$BODY")';
    case 'other_secret':
      return `$(sign ${quoted(signedAs.secret, [])} "$BODY")`;
    case 'unsigned':
      return undefined;
    case 'changed':
      return `$(sign "$WALLET_SECRET" "$BODY" | sed '${signedAs.sed}')`;
    case 'constant':
      return signedAs.jws;
    case 'other_body':
      return `$(sign "$WALLET_SECRET" ${quoted(signedAs.signedBody, known)})`;
    case 'attached_body': {
      const signed = quoted(signedAs.signedBody, known);
      return `$(sign "$WALLET_SECRET" ${signed} | sed "s/\\.\\./.$(printf %s ${signed} | b64)./")`;
    }
    case 'other_header':
      return `$(sign "$WALLET_SECRET" "$BODY" ${signedAs.header})`;
    default:
      return unreachable(signedAs);
  }
}

/** Text in single quotes for a POSIX shell, with the known values replaced by their variables. */
function quoted(text: string, known: readonly Variable[]): string {
  let pieces: readonly (string | Variable)[] = [text];
  for (const variable of known) {
    pieces = pieces.flatMap((piece) =>
      typeof piece === 'string'
        ? piece.split(variable.value).flatMap((part, at) => (at === 0 ? [part] : [variable, part]))
        : [piece],
    );
  }
  const shell = pieces
    .map((piece) =>
      typeof piece === 'string'
        ? piece === ''
          ? ''
          : `'${piece.replaceAll("'", `'\\''`)}'`
        : `"$${piece.name}"`,
    )
    .join('');
  return shell === '' ? "''" : shell;
}
